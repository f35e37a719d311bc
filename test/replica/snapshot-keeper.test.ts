/** Which files are removed, and which are not yet. */

import { expect, test } from "vitest";
import { LOG_START, type LogPosition } from "../../src/raft/types.ts";
import { SnapshotKeeper } from "../../src/replica/snapshot-keeper.ts";
import { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { Gate } from "./gate.ts";
import { GROUP, watchOutcome } from "./lone-replica.ts";
import { at, failing, machineAt, publish, RecordingLogger } from "./snapshot-support.ts";

const clock = new VirtualClock();

class Fixture {
  readonly store = new MemorySnapshotStore();
  readonly logger = new RecordingLogger();
  inUse: readonly LogPosition[] = [LOG_START];
  readonly files = new SnapshotKeeper({
    group: GROUP,
    store: this.store,
    logger: this.logger,
    inUse: () => this.inUse,
    durable: LOG_START,
  });

  get published(): number[] {
    return this.store.published(GROUP);
  }
}

async function withFiles(...indexes: number[]): Promise<Fixture> {
  const fixture = new Fixture();
  for (const index of indexes) await publish(fixture.store, machineAt(GROUP, index), at(index));
  return fixture;
}

test("files that are neither in use nor held nor named by the disk are removed", async () => {
  const fixture = await withFiles(3, 5, 7, 9);
  fixture.inUse = [at(7)];
  await fixture.files.hold(at(9));
  fixture.files.named(at(5));
  await clock.settle();
  expect(fixture.published).toEqual([5, 7, 9]);
});

test("a file stays held until it is released", async () => {
  const fixture = await withFiles(3, 5);
  const position = at(3);
  await fixture.files.hold(position);
  fixture.inUse = [at(5)];
  fixture.files.named(at(5));
  await clock.settle();
  expect(fixture.published).toEqual([3, 5]);
  fixture.files.release(position);
  fixture.files.removeOthers();
  await clock.settle();
  expect(fixture.published).toEqual([5]);
});

test("what the core counts already does not cost the file that the disk still names", async () => {
  const fixture = await withFiles(5, 9);
  fixture.inUse = [at(5)];
  fixture.files.named(at(5));
  await fixture.files.hold(at(9));
  fixture.inUse = [at(9)];
  fixture.files.removeOthers();
  await clock.settle();
  expect(fixture.published).toEqual([5, 9]);
});

test("a file is begun only when a removal that does not know of it is over", async () => {
  const fixture = await withFiles(5);
  const gate = new Gate(fixture.store, "retain");
  fixture.inUse = [at(5)];
  fixture.files.named(at(5));
  await clock.settle();
  const held = watchOutcome(fixture.files.hold(at(9)).then(() => "held"));
  await clock.settle();
  expect([gate.count, held.value]).toEqual([1, undefined]);
  gate.next();
  await clock.settle();
  expect(held.value).toBe("held");
});

test("a removal looks at what is in use when it begins, not when it was asked for", async () => {
  const fixture = await withFiles(5, 7);
  const gate = new Gate(fixture.store, "retain");
  fixture.inUse = [at(5), at(7)];
  fixture.files.named(at(7));
  fixture.files.removeOthers();
  await clock.settle();
  // The first is under way; until the second begins the follower that was offered 5 has come up.
  expect(gate.count).toBe(1);
  fixture.inUse = [at(7)];
  gate.next();
  await clock.settle();
  expect([gate.count, fixture.published]).toEqual([2, [5, 7]]);
  gate.open();
  await clock.settle();
  expect(fixture.published).toEqual([7]);
});

test("a removal that fails is logged, and the next one tries again", async () => {
  const fixture = await withFiles(3, 5);
  fixture.store.before = failing("retain");
  fixture.inUse = [at(5)];
  fixture.files.named(at(5));
  await fixture.files.settled();
  expect(fixture.logger.lines).toEqual(["warn snapshotRemovalFailed"]);
  expect(fixture.published).toEqual([3, 5]);
  fixture.store.before = () => undefined;
  fixture.files.removeOthers();
  await fixture.files.settled();
  expect(fixture.published).toEqual([5]);
});
