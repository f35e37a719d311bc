/** What one replica does with its snapshots, told by the outputs of its core. */

import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import type { SnapshotTakenInput } from "../../src/raft/input.ts";
import { LOG_START } from "../../src/raft/types.ts";
import { GroupSnapshots } from "../../src/replica/group-snapshots.ts";
import { serverOf } from "../../src/replica/host.ts";
import { Turns } from "../../src/replica/turns.ts";
import { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { add, CountingMachine } from "./counting-machine.ts";
import { GROUP, QUIET } from "./lone-replica.ts";
import { NOTHING, persistOf } from "../raft/outputs.ts";
import { at } from "./snapshot-support.ts";

test("a checkpoint that the core has no use for is removed when the next one is durable", async () => {
  const clock = new VirtualClock();
  const store = new MemorySnapshotStore();
  const machine = new CountingMachine(GROUP);
  const posted: SnapshotTakenInput[] = [];
  let index = 0;
  const snapshots = new GroupSnapshots({
    group: GROUP,
    machine,
    store,
    source: { fetch: () => Promise.reject(new Error("nobody asks")) as never },
    turns: new Turns(),
    checkpointBytesMin: 100,
    serverOf,
    durable: LOG_START,
    inUse: () => [],
    appliedPosition: () => at(index),
    post: (input) => void posted.push({ ...input, nowMs: clock.nowMs() } as SnapshotTakenInput),
    clock,
    timers: clock,
    logger: QUIET,
  });
  const checkpoint = async (): Promise<SnapshotTakenInput> => {
    machine.apply(at(++index), add(index));
    snapshots.applied(100);
    await clock.settle();
    const input = posted.at(-1);
    if (input?.position.index !== index) throw new Error("a checkpoint was taken");
    return input;
  };
  snapshots.stepped(await checkpoint(), NOTHING);
  const second = await checkpoint();
  snapshots.stepped(second, { ...NOTHING, persist: persistOf(2, { snapshot: at(2) }) });
  expect(store.published(GROUP)).toEqual([1, 2]);
  snapshots.reported(persistOf(2, { snapshot: at(2) }));
  const persisted = { kind: "persisted", nowMs: clock.nowMs(), lastTerm: 1 as Term } as const;
  snapshots.stepped({ ...persisted, lastIndex: 2 as LogIndex }, NOTHING);
  await clock.settle();
  expect(store.published(GROUP)).toEqual([2]);
});
