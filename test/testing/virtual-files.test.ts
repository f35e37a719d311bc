// Simulated files: they do what files do, and a power cut takes what was not synced.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import type { FileStore } from "../../src/storage/files.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { VirtualFiles } from "../../src/testing/virtual-files.ts";
import { describeFileStore } from "../conformance/file-store.ts";
import { onVirtualTime } from "./virtual-time.ts";

function newFiles(seed: number): {
  readonly clock: VirtualClock;
  readonly disk: VirtualFiles;
  readonly open: () => FileStore;
} {
  const clock = new VirtualClock();
  const disk = new VirtualFiles({ world: clock, prng: Prng.fromSeed(seed), syncMsMax: 1 });
  return { clock, disk, open: () => disk.open(new ProcessClock(clock)) };
}

describeFileStore("a simulated disk", async (run) => {
  const { clock, open } = newFiles(1);
  await onVirtualTime(clock, run(open()));
});

/** What is found after power was cut in the middle of the work, over many seeds. */
async function foundAfterPowerCuts(
  cutAtMs: number,
  work: (files: FileStore) => Promise<void>,
  read: (files: FileStore) => Promise<string>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let seed = 1; seed <= 80; seed++) {
    const { clock, disk, open } = newFiles(seed);
    void work(open());
    await clock.advance(cutAtMs);
    disk.cutPower();
    found.add(await onVirtualTime(clock, read(open())));
  }
  return found;
}

async function textOf(files: FileStore, name: string): Promise<string> {
  const content = await files.readWhole(name);
  return content === undefined ? "absent" : String.fromCharCode(...content);
}

async function writeDraft(files: FileStore): Promise<void> {
  const file = await files.openForAppend("draft");
  await file.append(utf8ToBytes("synced."));
  await file.sync();
  await files.publish("draft", "file");
  const again = await files.openForAppend("file");
  await again.append(utf8ToBytes("tail"));
}

test("a power cut keeps what was synced, and any part of what was appended since", async () => {
  const found = await foundAfterPowerCuts(50, writeDraft, (files) => textOf(files, "file"));
  for (const text of found) expect(text.startsWith("synced.")).toBe(true);
  expect(found).toContain("synced.");
  expect(found).toContain("synced.tail");
  expect(found.size).toBeGreaterThan(3);
});

test("without a sync of the folder a rename may be undone, and a removal, too", async () => {
  const work = async (files: FileStore): Promise<void> => {
    await writeDraft(files);
    await files.remove("file");
  };
  const found = await foundAfterPowerCuts(50, work, (files) => textOf(files, "file"));
  expect(found).toContain("absent");
  expect(found.size).toBeGreaterThan(1);
});

test("a power cut in the middle of an overwrite leaves a mixture of old and new", async () => {
  const work = async (files: FileStore): Promise<void> => {
    const file = await files.openForAppend("draft");
    await file.append(utf8ToBytes("oooooooo"));
    await file.sync();
    await files.publish("draft", "file");
    for (;;) {
      await files.writeSynced("file", 0, utf8ToBytes("nnnnnnnn"));
      await files.writeSynced("file", 0, utf8ToBytes("oooooooo"));
    }
  };
  const found = await foundAfterPowerCuts(9, work, (files) => textOf(files, "file"));
  for (const text of found) expect(text).toMatch(/^[on]{8}$/);
  expect(found.size).toBeGreaterThan(3);
});

test("a killed process leaves everything that it had written", async () => {
  const { clock, disk, open } = newFiles(1);
  await onVirtualTime(clock, writeDraft(open()));
  disk.release();
  expect(await onVirtualTime(clock, textOf(open(), "file"))).toBe("synced.tail");
});

test("a failed sync is a storage error, told once", async () => {
  const { clock, disk, open } = newFiles(1);
  const files = open();
  const file = await onVirtualTime(clock, files.openForAppend("file"));
  disk.failNextSync();
  await expect(onVirtualTime(clock, file.sync())).rejects.toMatchObject({ code: "ioError" });
  await onVirtualTime(clock, file.sync());
});
