// Snapshot files over a faulty network: whole, broken off, and from a sender that is gone.
import { expect, test } from "vitest";
import type { GroupId, LogIndex, LogTimeMs, ServerId, Term } from "../../src/base/brands.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { Prng } from "../../src/base/prng.ts";
import type { SnapshotName } from "../../src/replica/ports.ts";
import { FaultySnapshots } from "../../src/testing/faulty-snapshots.ts";
import { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { ProcessClock } from "../../src/testing/process-clock.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { onVirtualTime } from "./virtual-time.ts";

const [ONE, TWO] = [1 as ServerId, 2 as ServerId];
const NAME: SnapshotName = {
  group: 1 as GroupId,
  position: { index: 5 as LogIndex, term: 1 as Term, timeMs: 0 as LogTimeMs },
};

async function newBench(breaks: number): Promise<{
  readonly clock: VirtualClock;
  readonly sender: ProcessClock;
  readonly network: FaultySnapshots;
  readonly fileBytes: number;
  cut: boolean;
  fetch(offset?: number): Promise<number>;
}> {
  const clock = new VirtualClock();
  const sender = new ProcessClock(clock);
  const store = new MemorySnapshotStore();
  const writer = store.create(NAME);
  await writer.append(utf8ToBytes("x".repeat(95)));
  const fileBytes = await writer.publish();
  const network = new FaultySnapshots({
    world: clock,
    prng: Prng.fromSeed(1),
    quality: { chunkBytes: 10, delayMsMax: 3, breaks },
    isCut: () => bench.cut,
  });
  network.join(ONE, sender, store);
  const source = network.join(TWO, new ProcessClock(clock), new MemorySnapshotStore());
  const bench = {
    clock,
    sender,
    network,
    fileBytes,
    cut: false,
    fetch: (offset = 0) => {
      const pull = async (): Promise<number> => {
        let at = offset;
        const { signal } = new AbortController();
        for await (const chunk of source.fetch(ONE, { name: NAME, offset }, signal)) {
          expect(chunk).toMatchObject({ offset: at, fileBytes });
          at += chunk.bytes.length;
        }
        return at;
      };
      return onVirtualTime(clock, pull());
    },
  };
  return bench;
}

test("a file comes whole, from wherever it is asked for", async () => {
  const bench = await newBench(0);
  expect(await bench.fetch()).toBe(bench.fileBytes);
  expect(await bench.fetch(42)).toBe(bench.fileBytes);
});

test("a stream may break off in the middle", async () => {
  const bench = await newBench(1);
  await expect(bench.fetch()).rejects.toThrow("broke");
});

test("a sender that is cut off, or stands still, is silent; one that is gone refuses", async () => {
  const bench = await newBench(0);
  bench.cut = true;
  await expect(bench.fetch()).rejects.toThrow("silent");
  bench.cut = false;
  bench.sender.pause();
  await expect(bench.fetch()).rejects.toThrow("silent");
  bench.sender.resume();
  expect(await bench.fetch()).toBe(bench.fileBytes);
  bench.network.leave(ONE);
  await expect(bench.fetch()).rejects.toThrow("cannot be reached");
});
