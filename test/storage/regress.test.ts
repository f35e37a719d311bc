import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DurableStep } from "../../src/replica/ports.ts";
import { isDistrust } from "../../src/storage/errors.ts";
import {
  entryOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
  stepOf,
} from "../conformance/log-steps.ts";
import {
  copyAtOnce,
  createStore,
  openStore,
  storageErrorOf,
  submitAndWait,
  withTempDir,
  withUsedStore,
} from "./level-harness.ts";

/** After FIRST_STEP: term 1, a vote for 1, entries 1 and 2. */
const LATER: readonly (readonly [string, Partial<DurableStep>, RegExp])[] = [
  ["a term", { hardState: hardStateOf(2) }, /index 0 in term 2, and now its term is 1/],
  ["entries", { entries: [entryOf(3, 1)] }, /index 3 in term 1, and now its log of that term/],
];

test.each(LATER)(
  "a log store that was put back to before %s is regressed, at every start",
  async (_, step, lag) => {
    await withUsedStore(async (dir) => {
      const image = `${dir}-image`;
      cpSync(join(dir, "raft"), image, { recursive: true });
      await run(dir, step);
      rmSync(join(dir, "raft"), { recursive: true });
      renameSync(image, join(dir, "raft"));
      for (let start = 0; start < 2; start++) {
        const error = await storageErrorOf(openStore(dir), "regressed");
        expect(error.message).toMatch(lag);
        expect(isDistrust(error)).toBe(true);
      }
    });
  },
);

test("a log store that was put back to before a vote of its term is regressed (§5.2)", async () => {
  await withUsedStore(async (dir) => {
    await run(dir, { hardState: hardStateOf(2) });
    const image = `${dir}-image`;
    cpSync(join(dir, "raft"), image, { recursive: true });
    await run(dir, { hardState: hardStateOf(2, 3) });
    rmSync(join(dir, "raft"), { recursive: true });
    renameSync(image, join(dir, "raft"));
    const error = await storageErrorOf(openStore(dir), "regressed");
    expect(error.message).toMatch(/its vote for 3 is gone/);
  });
});

test("a vote that LevelDB lost with the end of its file is regressed, though all else is sound", async () => {
  await withUsedStore(async (dir) => {
    const { store } = await openStore(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(1, 1), entries: [entryOf(3, 1)] }));
    const whole = walOf(dir).content;
    await submitAndWait(store, stepOf({ hardState: hardStateOf(2, 3) }));
    const { path, content } = walOf(dir);
    expect(content.subarray(0, whole.length)).toEqual(whole);
    await store.close();
    writeFileSync(path, whole);
    await storageErrorOf(openStore(dir), "regressed");
  });
});

test("a write that was cut off before it was told is no loss: the record agrees", async () => {
  await withUsedStore(async (dir) => {
    const { store } = await openStore(dir);
    await submitAndWait(store, stepOf({ hardState: hardStateOf(2, 3) }));
    await withTempDir(async (crashed) => {
      copyAtOnce(dir, crashed);
      await submitAndWait(
        store,
        stepOf({ hardState: hardStateOf(3, 1), entries: [entryOf(3, 3)] }),
      );
      const before = walOf(crashed);
      const after = walOf(dir).content;
      for (let length = before.content.length; length < after.length; length += 7) {
        writeFileSync(before.path, after.subarray(0, length));
        const copy = `${crashed}-${length}`;
        cpSync(crashed, copy, { recursive: true });
        const opened = await openStore(copy);
        expect(opened.replicas[0]).toMatchObject({ hardState: hardStateOf(2, 3) });
        await opened.store.close();
        rmSync(copy, { recursive: true });
      }
    });
    await store.close();
  });
});

test("a log that was truncated and compacted is not behind its record", async () => {
  await withUsedStore(async (dir) => {
    await run(dir, { hardState: hardStateOf(2), truncateFrom: indexOf(2) });
    await run(dir, { hardState: hardStateOf(3), entries: [entryOf(2, 3), entryOf(3, 3)] });
    const moved = { snapshot: positionOf(3, 3), base: positionOf(3, 3) };
    await run(dir, { hardState: hardStateOf(3, undefined, 3), ...moved });
    await run(dir, { hardState: hardStateOf(4, 2, 3) });
  });
});

test("what a crash left in the log store alone is on record before anybody may act on it", async () => {
  await withUsedStore(async (dir) => {
    const [raft, record] = [join(dir, "raft"), join(dir, "acknowledged")];
    const image = `${dir}-image`;
    cpSync(raft, image, { recursive: true });
    const before = readFileSync(record);
    await run(dir, { hardState: hardStateOf(2, 3) });
    writeFileSync(record, before);
    const { store } = await openStore(dir);
    // From here on the vote may be told again.
    const atOpen = readFileSync(record);
    await store.close();
    rmSync(raft, { recursive: true });
    renameSync(image, raft);
    writeFileSync(record, atOpen);
    const error = await storageErrorOf(openStore(dir), "regressed");
    expect(error.message).toMatch(/in term 2, and now its term is 1/);
  });
});

test("a lost second record is missing, a rotten one is damaged, and one slot is enough", async () => {
  await withUsedStore(async (dir) => {
    const path = join(dir, "acknowledged");
    const sound = readFileSync(path);
    rmSync(path);
    await storageErrorOf(openStore(dir), "missing");
    writeFileSync(
      path,
      sound.map((byte) => byte ^ 1),
    );
    await storageErrorOf(openStore(dir), "damaged");
    for (const half of [0, sound.length / 2]) {
      const torn = Buffer.from(sound);
      torn.fill(0xaa, half, half + 30);
      writeFileSync(path, torn);
      await (await openStore(dir)).store.close();
    }
  });
});

test("a store of its own uuid and an older record is fine: indexes may be late", async () => {
  await withUsedStore(async (dir) => {
    const record = readFileSync(join(dir, "acknowledged"));
    await run(dir, { entries: [entryOf(3, 1)] });
    writeFileSync(join(dir, "acknowledged"), record);
    const opened = await openStore(dir);
    expect(opened.replicas[0]?.entries.length).toBe(3);
    await opened.store.close();
  });
});

test("what a store remembers of its peers, and its admission, are found again", async () => {
  await withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const first = await openStore(dir);
    expect(first.isAdmitted).toBe(false);
    await Promise.all([
      first.memory.remember(2 as never, "uuid-2"),
      first.memory.remember(3 as never, "uuid-3"),
    ]);
    await first.store.close();
    const second = await openStore(dir);
    expect(second.isAdmitted).toBe(false);
    expect([2, 3, 4].map((id) => second.memory.storeOf(id as never))).toEqual([
      "uuid-2",
      "uuid-3",
      undefined,
    ]);
    await second.memory.admit();
    await second.store.close();
    const third = await openStore(dir);
    expect(third.isAdmitted).toBe(true);
    await third.memory.admit();
    await third.store.close();
    await (await openStore(dir)).store.close();
  });
});

/** Opens, takes a step, closes. */
async function run(dir: string, step: Partial<DurableStep>): Promise<void> {
  const { store } = await openStore(dir);
  await submitAndWait(store, stepOf(step));
  await store.close();
}

/** The write-ahead file that is in use. */
function walOf(dir: string): { readonly path: string; readonly content: Buffer } {
  const raftDir = join(dir, "raft");
  const names = readdirSync(raftDir).filter((name) => /^\d+\.log$/.test(name));
  const path = join(raftDir, names.toSorted((a, b) => (a < b ? -1 : 1)).at(-1) ?? "none");
  return { path, content: readFileSync(path) };
}
