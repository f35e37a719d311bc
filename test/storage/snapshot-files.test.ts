import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InvariantError } from "../../src/base/assert.ts";
import { type Bytes, bytesToUtf8, concatBytes, utf8ToBytes } from "../../src/base/bytes.ts";
import type { SnapshotName, SnapshotReceiver } from "../../src/replica/ports.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { checkSnapshots, SnapshotFiles } from "../../src/storage/snapshot-files.ts";
import { groupOf, hardStateOf, positionOf, replicaOf } from "../conformance/log-steps.ts";
import { type FileCall, FaultyFiles } from "./faulty-files.ts";
import { storageErrorOf, withTempDir } from "./level-harness.ts";

interface Context {
  readonly dir: string;
  readonly files: FaultyFiles;
  readonly snapshots: SnapshotFiles;
  /** What the folder of snapshots holds. */
  readonly names: () => string[];
}

const AT_7: SnapshotName = { group: groupOf(1), position: positionOf(7, 2) };
const AT_9: SnapshotName = { group: groupOf(1), position: positionOf(9, 2) };

async function withSnapshots(run: (context: Context) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    const files = new FaultyFiles(new NodeFileStore(dir));
    const snapshots = new SnapshotFiles({ files, dir, clusterId: "c1" });
    const folder = join(dir, "snapshots");
    const names = (): string[] => (existsSync(folder) ? readdirSync(folder).toSorted(byText) : []);
    await run({ dir, files, snapshots, names });
  });
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

async function write(snapshots: SnapshotFiles, name: SnapshotName, text: string): Promise<number> {
  const writer = snapshots.create(name);
  await writer.append(utf8ToBytes(text));
  return writer.publish();
}

async function read(snapshots: SnapshotFiles, name: SnapshotName): Promise<string | undefined> {
  const pieces: Bytes[] = [];
  for await (const piece of snapshots.read(name)) pieces.push(piece);
  return bytesToUtf8(concatBytes(...pieces));
}

/** The raw bytes of a published file. */
async function fileOf(snapshots: SnapshotFiles, name: SnapshotName): Promise<Bytes> {
  const file = (await snapshots.openFile(name)) ?? expect.fail("no such file");
  const bytes = await file.read(0, file.fileBytes);
  await file.close();
  return bytes;
}

test("a snapshot is there once it was published, and not before", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    const writer = snapshots.create(AT_7);
    await writer.append(utf8ToBytes("half a state"));
    expect(await snapshots.openFile(AT_7)).toBeUndefined();
    await storageErrorOf(read(snapshots, AT_7), "damaged");
    const fileBytes = await writer.publish();
    expect(await read(snapshots, AT_7)).toBe("half a state");
    expect(names()).toEqual(["1-7-2-70.snapshot"]);
    expect((await fileOf(snapshots, AT_7)).length).toBe(fileBytes);
  });
});

test("a large state is read as it was written, and pieces may be used again", async () => {
  await withSnapshots(async ({ snapshots }) => {
    const writer = snapshots.create(AT_7);
    const piece = new Uint8Array(100_000);
    for (let at = 0; at < 30; at++) {
      piece.fill(at);
      await writer.append(piece);
    }
    await writer.publish();
    let bytes = 0;
    for await (const part of snapshots.read(AT_7)) {
      for (const byte of part) {
        if (byte !== Math.floor(bytes / piece.length)) expect.fail(`another byte at ${bytes}`);
        bytes++;
      }
    }
    expect(bytes).toBe(30 * piece.length);
  });
});

test("the content is synced before the file gets its name", async () => {
  await withSnapshots(async ({ snapshots, files }) => {
    await write(snapshots, AT_7, "state");
    const draft = "snapshots/1-7-2-70.draft";
    expect(files.calls.filter((call) => !call.startsWith("remove"))).toEqual([
      `open ${draft}`,
      `append ${draft}`,
      `sync ${draft}`,
      `close ${draft}`,
      "publish snapshots/1-7-2-70.snapshot",
    ]);
  });
});

test("a large file is synced as it grows, so that no sync of it is a long one", async () => {
  await withSnapshots(async ({ snapshots, files }) => {
    const piece = new Uint8Array(2 ** 20);
    const writer = snapshots.create(AT_7);
    for (let at = 0; at < 10; at++) await writer.append(piece);
    const syncs = (): number => files.calls.filter((call) => call.startsWith("sync")).length;
    expect(syncs()).toBe(2);
    await writer.publish();
    expect(syncs()).toBe(3);
    const bytes = await fileOf(snapshots, AT_7);
    await snapshots.retain(AT_7.group, []);
    const receiver = await snapshots.receive(AT_7, bytes.length);
    for (let at = 0; at < bytes.length; at += 2 ** 18) {
      await receiver.append(bytes.subarray(at, at + 2 ** 18));
    }
    expect(syncs()).toBe(5);
    await receiver.publish();
    expect(syncs()).toBe(6);
  });
});

test("a received part whose sync failed is not gone on with", async () => {
  await withSnapshots(async ({ snapshots, files, names }) => {
    const receiver = await snapshots.receive(AT_7, 10 * 2 ** 20);
    files.fail("sync", "ioError");
    await expect(receiver.append(new Uint8Array(5 * 2 ** 20))).rejects.toThrow(Error);
    files.heal();
    await receiver.suspend();
    expect(names()).toEqual([]);
    const next = await snapshots.receive(AT_7, 10 * 2 ** 20);
    expect(next.offset).toBe(0);
    await next.suspend();
  });
});

test.each<[FileCall, "diskFull" | "ioError"]>([
  ["open", "diskFull"],
  ["append", "diskFull"],
  ["append", "ioError"],
  ["sync", "ioError"],
  ["sync", "diskFull"],
  ["publish", "ioError"],
])("a draft that fails at %s with %s leaves the old snapshot, and no draft", async (call, code) => {
  await withSnapshots(async ({ snapshots, files, names }) => {
    await write(snapshots, AT_7, "old");
    files.fail(call, code);
    const writer = snapshots.create(AT_9);
    const attempt = (async () => {
      await writer.append(new Uint8Array(200_000));
      await writer.publish();
    })();
    await storageErrorOf(attempt, code);
    expect(() => writer.append(Uint8Array.of(1))).toThrow(InvariantError);
    expect(() => writer.publish()).toThrow(InvariantError);
    await writer.abort();
    expect(names()).toEqual(["1-7-2-70.snapshot"]);
    expect(await read(snapshots, AT_7)).toBe("old");
    files.heal();
    await write(snapshots, AT_9, "new");
    expect(await read(snapshots, AT_9)).toBe("new");
  });
});

test("a failed sync is not tried again on the same file", async () => {
  await withSnapshots(async ({ snapshots, files }) => {
    files.fail("sync", "ioError");
    const writer = snapshots.create(AT_7);
    await storageErrorOf(writer.publish(), "ioError");
    files.heal();
    await writer.abort();
    expect(files.calls.filter((call) => call.startsWith("sync")).length).toBe(1);
    await write(snapshots, AT_7, "state");
    expect(files.calls.filter((call) => call.startsWith("open ")).length).toBe(2);
  });
});

test("an abort drops the draft, at any time and twice", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    await snapshots.create(AT_7).abort();
    const writer = snapshots.create(AT_7);
    const appended = writer.append(new Uint8Array(300_000));
    await Promise.all([writer.abort(), writer.abort(), appended]);
    expect(names()).toEqual([]);
    const published = snapshots.create(AT_9);
    const publishing = published.publish();
    await published.abort();
    await publishing;
    expect(names()).toEqual(["1-9-2-90.snapshot"]);
  });
});

test("a draft that was left unfinished gives way to the next of its group", async () => {
  await withSnapshots(async ({ dir, snapshots, names }) => {
    await snapshots.create(AT_7).append(new Uint8Array(200_000));
    await write(snapshots, AT_9, "next");
    expect(names()).toEqual(["1-9-2-90.snapshot"]);
    writeFileSync(join(dir, "snapshots", "1-7-2-70.draft"), "of a process that died");
    await write(snapshots, AT_7, "anew");
    expect(await read(snapshots, AT_7)).toBe("anew");
  });
});

test.each<[string, (path: string) => void]>([
  ["cut short", (path) => truncateSync(path, 60)],
  ["torn", (path) => overwrite(path, 60, new Uint8Array(8))],
  ["flipped", (path) => overwrite(path, 70, Uint8Array.of(0xff))],
  ["empty", (path) => truncateSync(path, 0)],
])("a published file that is %s is damage, and names file and group", async (_, damage) => {
  await withSnapshots(async ({ dir, snapshots }) => {
    await write(snapshots, AT_7, "a state of some length, to be damaged");
    damage(join(dir, "snapshots", "1-7-2-70.snapshot"));
    const error = await storageErrorOf(read(snapshots, AT_7), "damaged");
    expect(error.message).toMatch(/snapshots\/1-7-2-70\.snapshot .* \(group 1, index 7, found: /);
    const replica = { ...replicaOf(1), hardState: hardStateOf(2), entries: [] };
    const loaded = { ...replica, base: positionOf(7, 2), snapshot: positionOf(7, 2) };
    await storageErrorOf(checkSnapshots(snapshots, [loaded]), "damaged");
  });
});

test("a snapshot is read to its end at open: damage in its last block is found", async () => {
  await withSnapshots(async ({ dir, snapshots }) => {
    const loaded = { ...replicaOf(1), hardState: hardStateOf(2), entries: [] };
    const replica = { ...loaded, base: AT_7.position, snapshot: AT_7.position };
    await write(snapshots, AT_7, "x".repeat(3_000_000));
    await checkSnapshots(snapshots, [replica]);
    const path = join(dir, "snapshots", "1-7-2-70.snapshot");
    const bytes = readFileSync(path);
    const at = bytes.length - 100;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await storageErrorOf(checkSnapshots(snapshots, [replica]), "damaged");
  });
});

test("a log that begins with a snapshot that is missing is damage at open", async () => {
  await withSnapshots(async ({ snapshots }) => {
    const base = { ...replicaOf(1), hardState: hardStateOf(2), entries: [] };
    const from = (index: number) => {
      const position = positionOf(index, 2);
      return { ...base, base: position, snapshot: position };
    };
    const missing = await storageErrorOf(checkSnapshots(snapshots, [from(9)]), "damaged");
    expect(missing.place).toEqual({ group: 1, index: 9 });
    await write(snapshots, AT_9, "state");
    await checkSnapshots(snapshots, [from(9), { ...from(0), group: groupOf(0) }]);
  });
});

test("retain removes all else of its group, drafts included", async () => {
  await withSnapshots(async ({ dir, snapshots, names }) => {
    for (const group of [1, 11]) {
      for (const index of [5, 7, 9]) {
        await write(snapshots, { group: groupOf(group), position: positionOf(index, 2) }, "state");
      }
    }
    const remains = ["1-5-2-50.draft", "1-7-2-70.900.receiving", "1-8-2-80.900.receiving", "note"];
    for (const name of remains) writeFileSync(join(dir, "snapshots", name), "");
    await snapshots.retain(groupOf(1), [AT_7.position]);
    const others = ["11-5-2-50.snapshot", "11-7-2-70.snapshot", "11-9-2-90.snapshot", "note"];
    expect(names()).toEqual(["1-7-2-70.900.receiving", "1-7-2-70.snapshot", ...others]);
  });
});

test("retain leaves alone what is being written or received", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    const writer = snapshots.create(AT_9);
    await writer.append(new Uint8Array(200_000));
    const receiver = await snapshots.receive(AT_7, 100);
    await snapshots.retain(groupOf(1), []);
    expect(names()).toEqual(["1-7-2-70.100.receiving", "1-9-2-90.draft"]);
    await receiver.suspend();
    await writer.publish();
    await snapshots.retain(groupOf(1), []);
    expect(names()).toEqual([]);
  });
});

test("an open file is removed when its last reader closes it, unless it is wanted again", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    await write(snapshots, AT_7, "state");
    const open = () => snapshots.openFile(AT_7).then((file) => file ?? expect.fail("no file"));
    const [first, second] = [await open(), await open()];
    await snapshots.retain(groupOf(1), []);
    await first.close();
    await first.close();
    expect(names()).toEqual(["1-7-2-70.snapshot"]);
    expect((await second.read(0, 1_000)).length).toBe(second.fileBytes);
    await second.close();
    expect(names()).toEqual([]);
    await write(snapshots, AT_7, "state");
    const third = await open();
    await snapshots.retain(groupOf(1), []);
    await snapshots.retain(groupOf(1), [AT_7.position]);
    await third.close();
    expect(names()).toEqual(["1-7-2-70.snapshot"]);
  });
});

test("a file is received in attempts, and what came before is kept over restarts", async () => {
  await withSnapshots(async ({ dir, files, snapshots, names }) => {
    const file = await sentFile("a state that comes in parts");
    const first = await snapshots.receive(AT_7, file.length);
    expect(first.offset).toBe(0);
    await first.append(file.subarray(0, 40));
    await first.append(file.subarray(40, 50));
    await first.suspend();
    const restarted = new SnapshotFiles({ files, dir, clusterId: "c1" });
    const second = await restarted.receive(AT_7, file.length);
    expect(second.offset).toBe(50);
    await second.append(file.subarray(50));
    await second.publish();
    expect(await read(snapshots, AT_7)).toBe("a state that comes in parts");
    expect(names()).toEqual(["1-7-2-70.snapshot"]);
  });
});

test("a received file is synced and verified before it gets its name", async () => {
  await withSnapshots(async ({ files, snapshots }) => {
    const file = await sentFile("state");
    const receiver = await snapshots.receive(AT_7, file.length);
    await receiver.append(file);
    await receiver.publish();
    const draft = `snapshots/1-7-2-70.${file.length}.receiving`;
    expect(files.calls).toEqual([
      `open ${draft}`,
      `append ${draft}`,
      `sync ${draft}`,
      `openForRead ${draft}`,
      `close ${draft}`,
      "publish snapshots/1-7-2-70.snapshot",
    ]);
  });
});

test("a received file whose sender cut it, and said so, is refused", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    const file = (await sentFile("a state of some length")).subarray(0, -5);
    const receiver = await snapshots.receive(AT_7, file.length);
    await receiver.append(file);
    const error = await storageErrorOf(receiver.publish(), "badSnapshot");
    expect(error.message).toMatch(/cut short/);
    expect(names()).toEqual([]);
  });
});

test("an attempt at another file of the same position begins anew", async () => {
  await withSnapshots(async ({ snapshots }) => {
    const first = await snapshots.receive(AT_7, 100);
    await first.append(new Uint8Array(50));
    await first.suspend();
    const other = await snapshots.receive(AT_7, 101);
    expect(other.offset).toBe(0);
    await other.suspend();
  });
});

type Receive = (receiver: SnapshotReceiver, file: Bytes) => Promise<void>;

test.each<[string, RegExp, Receive]>([
  [
    "flipped",
    /checksum/,
    async (receiver, file) => {
      const flipped = file.slice();
      flipped[70] = (flipped[70] ?? 0) ^ 1;
      await receiver.append(flipped);
      await receiver.publish();
    },
  ],
  [
    "short",
    /\d+ of its \d+ bytes/,
    async (receiver, file) => {
      await receiver.append(file.subarray(0, -1));
      await receiver.publish();
    },
  ],
  [
    "too long",
    /more than its \d+ bytes/,
    async (receiver, file) => {
      await receiver.append(file);
      await receiver.append(Uint8Array.of(0));
    },
  ],
])("a received file that is %s is refused by name and dropped", async (_, found, receive) => {
  await withSnapshots(async ({ snapshots, names }) => {
    const file = await sentFile("a state of some length, to be damaged");
    const receiver = await snapshots.receive(AT_7, file.length);
    const error = await storageErrorOf(receive(receiver, file), "badSnapshot");
    expect(error.message).toMatch(found);
    expect(error.message).toMatch(/group 1 at 7/);
    expect(names()).toEqual([]);
    await receiver.suspend();
    const next = await snapshots.receive(AT_7, file.length);
    expect(next.offset).toBe(0);
    await next.suspend();
  });
});

test("a received file of another cluster or position is refused by name and dropped", async () => {
  await withSnapshots(async ({ snapshots, names }) => {
    const foreign = await sentFile("state", "c2");
    const ofCluster = await snapshots.receive(AT_7, foreign.length);
    await ofCluster.append(foreign);
    const clusterError = await storageErrorOf(ofCluster.publish(), "badSnapshot");
    expect(clusterError.message).toMatch(/a snapshot of cluster c2, not of c1/);
    const elsewhere = await sentFile("state");
    const ofPosition = await snapshots.receive(AT_9, elsewhere.length);
    await ofPosition.append(elsewhere);
    const positionError = await storageErrorOf(ofPosition.publish(), "badSnapshot");
    expect(positionError.message).toMatch(/a snapshot at 7-2-70, not at 9-2-90/);
    expect(names()).toEqual([]);
  });
});

test("a receiver that met a full disk goes on where the disk stopped", async () => {
  await withSnapshots(async ({ files, snapshots }) => {
    const file = await sentFile("a state that comes in parts");
    const first = await snapshots.receive(AT_7, file.length);
    files.fail("append", "diskFull");
    await storageErrorOf(first.append(file.subarray(0, 50)), "diskFull");
    files.heal();
    await first.suspend();
    const second = await snapshots.receive(AT_7, file.length);
    expect(second.offset).toBe(25);
    await second.append(file.subarray(25));
    await second.publish();
    expect(await read(snapshots, AT_7)).toBe("a state that comes in parts");
  });
});

/** The file that another server has at AT_7. */
async function sentFile(text: string, clusterId = "c1"): Promise<Bytes> {
  return withTempDir(async (dir) => {
    const sender = new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId });
    await write(sender, AT_7, text);
    return fileOf(sender, AT_7);
  });
}

function overwrite(path: string, offset: number, bytes: Bytes): void {
  const content = readFileSync(path);
  content.set(bytes, offset);
  writeFileSync(path, content);
}
