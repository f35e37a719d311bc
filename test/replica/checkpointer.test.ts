/** When checkpoints are taken, and what becomes of those that fail or are overtaken. */

import { expect, test } from "vitest";
import { LOG_START, type LogPosition } from "../../src/raft/types.ts";
import { Checkpointer } from "../../src/replica/checkpointer.ts";
import { SnapshotKeeper } from "../../src/replica/snapshot-keeper.ts";
import { Turns } from "../../src/replica/turns.ts";
import { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { add, CountingMachine } from "./counting-machine.ts";
import { Gate } from "./gate.ts";
import { GROUP } from "./lone-replica.ts";
import { at, cutBytes, failing, machineAt, RecordingLogger } from "./snapshot-support.ts";

const BYTES_MIN = 100;

class Fixture {
  readonly clock: VirtualClock;
  readonly store = new MemorySnapshotStore();
  readonly logger = new RecordingLogger();
  readonly machine = new CountingMachine(GROUP);
  readonly taken: LogPosition[] = [];
  readonly files: SnapshotKeeper;
  readonly checkpointer: Checkpointer;
  #index = 0;

  constructor(clock = new VirtualClock(), turns = new Turns()) {
    const { machine, logger, store } = this;
    this.clock = clock;
    this.files = new SnapshotKeeper({
      group: GROUP,
      store,
      logger,
      inUse: () => [],
      durable: LOG_START,
    });
    this.checkpointer = new Checkpointer({
      group: GROUP,
      machine,
      files: this.files,
      turns,
      clock,
      timers: clock,
      logger,
      bytesMin: BYTES_MIN,
      position: () => at(this.#index),
      onTaken: (position) => void this.taken.push(position),
    });
  }

  apply(bytes: number): void {
    this.#index++;
    this.machine.apply(at(this.#index), add(this.#index));
    this.checkpointer.applied(bytes);
  }

  get published(): number[] {
    return this.store.published(GROUP);
  }

  get takenAt(): number[] {
    return this.taken.map(({ index }) => index);
  }
}

test("a checkpoint is taken when the entries applied since the last one reach the bound", async () => {
  const fixture = new Fixture();
  fixture.apply(60);
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([]);
  fixture.apply(40);
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([2]);
  expect(fixture.published).toEqual([2]);
  fixture.apply(99);
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([2]);
  fixture.apply(1);
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([2, 4]);
  expect(fixture.machine.openCuts).toBe(0);
});

test("the bound grows with the state, so that states cost no more than the log", async () => {
  const fixture = new Fixture();
  for (let entry = 0; entry < 40; entry++) fixture.apply(3);
  await fixture.clock.settle();
  expect(fixture.takenAt).toHaveLength(1);
  const { lastFileBytes } = fixture.checkpointer.stats;
  if (lastFileBytes === undefined) throw new Error("one was taken");
  expect(lastFileBytes).toBeGreaterThan(BYTES_MIN);
  fixture.apply(lastFileBytes - 1);
  await fixture.clock.settle();
  expect(fixture.takenAt).toHaveLength(1);
  fixture.apply(1);
  await fixture.clock.settle();
  expect(fixture.takenAt).toHaveLength(2);
});

test("a checkpoint holds the state at its position, whatever is applied meanwhile", async () => {
  const fixture = new Fixture();
  const gate = new Gate(fixture.store, "append");
  fixture.apply(BYTES_MIN);
  await fixture.clock.settle();
  expect(gate.count).toBe(1);
  for (let entry = 0; entry < 5; entry++) fixture.apply(10);
  gate.open();
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([1]);
  const stored: Uint8Array[] = [];
  for await (const piece of fixture.store.read({ group: GROUP, position: at(1) })) {
    stored.push(piece);
  }
  expect(Buffer.concat(stored)).toEqual(Buffer.concat(cutBytes(machineAt(GROUP, 1))));
  // The 50 bytes that came meanwhile count for the next one.
  fixture.apply(50);
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([1, 7]);
});

test("there are never two checkpoints of a group at once", async () => {
  const fixture = new Fixture();
  const gate = new Gate(fixture.store, "publish");
  fixture.apply(BYTES_MIN);
  await fixture.clock.settle();
  fixture.apply(BYTES_MIN);
  fixture.apply(BYTES_MIN);
  await fixture.clock.settle();
  expect([gate.count, fixture.machine.openCuts]).toEqual([1, 1]);
  gate.open();
  await fixture.clock.settle();
  expect(fixture.takenAt).toEqual([1, 3]);
});

test("the groups of a server take checkpoints one after the other", async () => {
  const clock = new VirtualClock();
  const turns = new Turns();
  const [one, two] = [new Fixture(clock, turns), new Fixture(clock, turns)];
  const gate = new Gate(one.store, "publish");
  one.apply(BYTES_MIN);
  two.apply(BYTES_MIN);
  await clock.settle();
  expect([one.machine.openCuts, two.machine.openCuts]).toEqual([1, 0]);
  gate.open();
  await clock.settle();
  expect([one.takenAt, two.takenAt]).toEqual([[1], [1]]);
});

test("a disk that stands still is given rests, and time in which others run", async () => {
  const fixture = new Fixture();
  const { clock, store } = fixture;
  store.before = (operation) => {
    if (operation === "append") clock.freeze(8);
    return undefined;
  };
  fixture.apply(BYTES_MIN);
  await clock.settle();
  // Its first piece has taken a whole slice: it rests for as long before the next.
  expect(clock.pendingCount).toBe(1);
  expect(fixture.takenAt).toEqual([]);
  await clock.advance(500);
  expect(fixture.takenAt).toEqual([1]);
});

test.each(["append", "publish"] as const)(
  "a checkpoint whose %s fails is logged once and tried again, ever more rarely",
  async (operation) => {
    const fixture = new Fixture();
    const { clock, store, logger, checkpointer } = fixture;
    store.before = failing(operation);
    fixture.apply(BYTES_MIN);
    await clock.settle();
    expect([checkpointer.stats.failed, fixture.machine.openCuts]).toEqual([1, 0]);
    // More entries do not make it try before its time.
    fixture.apply(BYTES_MIN);
    await clock.advance(999);
    expect(checkpointer.stats.failed).toBe(1);
    await clock.advance(1);
    expect(checkpointer.stats.failed).toBe(2);
    await clock.advance(1_999);
    expect(checkpointer.stats.failed).toBe(2);
    await clock.advance(1);
    expect(checkpointer.stats.failed).toBe(3);
    expect(logger.lines).toEqual(["warn checkpointFailed"]);
    store.before = () => undefined;
    await clock.advance(4_000);
    expect(fixture.takenAt).toEqual([2]);
    expect(logger.lines).toEqual(["warn checkpointFailed", "info checkpointTaken"]);
    expect(fixture.published).toEqual([2]);
  },
);

test("a checkpoint is given up when the state is about to be replaced, and none begins", async () => {
  const fixture = new Fixture();
  const { clock, checkpointer, machine } = fixture;
  const gate = new Gate(fixture.store, "append");
  fixture.apply(BYTES_MIN);
  await clock.settle();
  expect([gate.count, machine.openCuts]).toEqual([1, 1]);
  checkpointer.holdBack();
  // The machine keeps nothing more for it from this moment on.
  expect(machine.openCuts).toBe(0);
  gate.open();
  fixture.apply(BYTES_MIN);
  await clock.settle();
  expect([fixture.takenAt, fixture.published, machine.openCuts]).toEqual([[], [], 0]);
  checkpointer.goOn();
  await clock.settle();
  expect(fixture.takenAt).toEqual([2]);
});

test("a checkpoint that is published while it is given up is not reported", async () => {
  const fixture = new Fixture();
  const { clock, checkpointer } = fixture;
  const gate = new Gate(fixture.store, "publish");
  fixture.apply(BYTES_MIN);
  await clock.settle();
  checkpointer.holdBack();
  checkpointer.replaced(BYTES_MIN * 3);
  gate.open();
  await clock.settle();
  expect(fixture.takenAt).toEqual([]);
  fixture.files.removeOthers();
  await clock.settle();
  expect(fixture.published).toEqual([]);
  // It counts from the replaced state on, and by its size.
  checkpointer.goOn();
  fixture.apply(BYTES_MIN * 3 - 1);
  await clock.settle();
  expect(fixture.takenAt).toEqual([]);
  fixture.apply(1);
  await clock.settle();
  expect(fixture.takenAt).toEqual([3]);
});

test("a turn that is waited for is given up, too", async () => {
  const clock = new VirtualClock();
  const turns = new Turns();
  const [one, two, three] = [1, 2, 3].map(() => new Fixture(clock, turns)) as [
    Fixture,
    Fixture,
    Fixture,
  ];
  const gate = new Gate(one.store, "publish");
  for (const { checkpointer } of [one, two, three]) checkpointer.applied(0);
  for (const fixture of [one, two, three]) fixture.apply(BYTES_MIN);
  await clock.settle();
  two.checkpointer.holdBack();
  gate.open();
  await clock.settle();
  expect([one.takenAt, two.takenAt, three.takenAt]).toEqual([[1], [], [1]]);
});

test.each(["create", "append", "publish"] as const)(
  "a stop in the middle of %s leaves no cut, no timer and no report behind",
  async (operation) => {
    const fixture = new Fixture();
    const { clock, checkpointer, machine } = fixture;
    const gate = new Gate(fixture.store, operation);
    fixture.apply(BYTES_MIN);
    await clock.settle();
    expect(gate.count).toBe(1);
    checkpointer.stop();
    expect(machine.openCuts).toBe(0);
    gate.open();
    await checkpointer.settled();
    fixture.apply(BYTES_MIN);
    await clock.advance(100_000);
    expect([fixture.takenAt, machine.openCuts, clock.pendingCount]).toEqual([[], 0, 0]);
  },
);

test("a stop while a failed checkpoint waits for its next attempt cancels that", async () => {
  const fixture = new Fixture();
  fixture.store.before = failing("append");
  fixture.apply(BYTES_MIN);
  await fixture.clock.settle();
  expect(fixture.clock.pendingCount).toBe(1);
  fixture.checkpointer.stop();
  expect(fixture.clock.pendingCount).toBe(0);
});
