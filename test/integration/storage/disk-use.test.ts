import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.ts";
import {
  entryOf,
  hardStateOf,
  positionOf,
  replicaOf,
  stepOf,
} from "../../conformance/log-steps.ts";
import { createStore, openStore, submitAndWait, withTempDir } from "../../storage/level-harness.ts";

const MIB = 2 ** 20;
const ENTRY_BYTES = 1_000;
const ENTRIES_PER_STEP = 100;
const WRITTEN_BYTES = 200 * MIB;
/** Kept behind each checkpoint, as a leader keeps some for followers that are a little late. */
const TRAILING_ENTRIES = 4_000;
const CHECKPOINT_ENTRIES = 8_000;

/**
 * Live entries, what was deleted since the last compaction, twice LevelDB's write buffer (a
 * write-ahead file and the table that is made of it), and a compaction's input beside its output.
 */
const DISK_BYTES_MAX = 128 * MIB;

test("a log that is compacted gives its disk space back while it is written (§7)", async () => {
  await withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const { store } = await openStore(dir);
    const payload = incompressible();
    let lastIndex = 0;
    let baseIndex = 0;
    let peakBytes = 0;
    while (lastIndex * ENTRY_BYTES < WRITTEN_BYTES) {
      const isCheckpointDue = lastIndex - baseIndex >= TRAILING_ENTRIES + CHECKPOINT_ENTRIES;
      const hardState = hardStateOf(1, 1, lastIndex);
      const entries = Array.from({ length: ENTRIES_PER_STEP }, () => ({
        ...entryOf(++lastIndex, 1),
        payload,
      }));
      if (isCheckpointDue) baseIndex = hardState.commitIndex - TRAILING_ENTRIES;
      const moved = {
        snapshot: positionOf(hardState.commitIndex, 1),
        base: positionOf(baseIndex, 1),
      };
      const step = stepOf({ hardState, entries, ...(isCheckpointDue && moved) });
      await submitAndWait(store, step);
      if (lastIndex % 1_000 === 0) peakBytes = Math.max(peakBytes, bytesIn(join(dir, "raft")));
    }
    await store.close();
    const endBytes = bytesIn(join(dir, "raft"));
    const figures = [lastIndex * ENTRY_BYTES, peakBytes, endBytes].map(inMib).join(", ");
    process.stdout.write(`log written, largest on disk, on disk at the end (MiB): ${figures}\n`);
    expect(peakBytes).toBeLessThan(DISK_BYTES_MAX);
    expect(endBytes).toBeLessThan(DISK_BYTES_MAX);
    const opened = await openStore(dir);
    expect(opened.replicas[0]).toMatchObject({ base: positionOf(baseIndex, 1) });
    expect(opened.replicas[0]?.entries.length).toBe(lastIndex - baseIndex);
    await opened.store.close();
  });
});

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}

function incompressible(): Uint8Array {
  const prng = Prng.fromSeed(1);
  return Uint8Array.from({ length: ENTRY_BYTES }, () => prng.nextInteger(0, 255));
}
