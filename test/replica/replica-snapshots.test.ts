/** One replica with snapshots: what it takes, what it starts from, and what it installs. */

import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import { entryBytes, type Entry } from "../../src/raft/types.ts";
import type { CountingMachine } from "./counting-machine.ts";
import { Gate } from "./gate.ts";
import { addBytes, entry, GROUP, LoneReplica, OTHER, PEER, watchOutcome } from "./lone-replica.ts";
import { at, machineAt, publish, replicaId } from "./snapshot-support.ts";

/** Entries first..last of a term, each adding its index. */
function entries(first: number, last: number, term = 1): Entry[] {
  return Array.from({ length: last - first + 1 }, (_, i) =>
    entry(first + i, term, addBytes(first + i)),
  );
}

const BYTES = entryBytes(entry(1, 1, addBytes(1)));

/** A follower of PEER whose log holds entries 1..last, all committed and applied. */
async function follower(last: number, options = {}): Promise<LoneReplica> {
  const lone = new LoneReplica(options);
  await lone.follow(entries(1, last), { term: 1, prev: [0, 0], commit: last });
  return lone;
}

async function offer(lone: LoneReplica, index: number, term = 1): Promise<void> {
  await lone.receive(PEER, { kind: "snapshotOffer", term: term as Term, position: at(index) });
}

/** Lets time pass, and writes become durable meanwhile, without ticks. */
async function pass(lone: LoneReplica, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    await lone.clock.advance(1);
    await lone.flush();
  }
}

function stateOf({ total, applied, revision }: CountingMachine): unknown {
  return { total, applied, revision };
}

test("a checkpoint is followed by a shorter log, and only then the older file goes", async () => {
  const lone = await follower(4, { checkpointBytesMin: 4 * BYTES });
  expect(lone.snapshotStore.published(GROUP)).toEqual([4]);
  await pass(lone, 1);
  expect(lone.replica.core.status()).toMatchObject({ snapshotIndex: 4, baseIndex: 4 });
  const { lastFileBytes = 0 } = lone.replica.snapshots.checkpointStats;
  const count = Math.max(4, Math.ceil(lastFileBytes / BYTES));
  const last = 4 + count;
  await lone.receive(PEER, {
    kind: "appendEntries",
    term: 1 as Term,
    prevIndex: 4 as LogIndex,
    prevTerm: 1 as Term,
    commitIndex: last as LogIndex,
    entries: entries(5, last),
  });
  // The entries become durable, and with them they are applied; the step of the checkpoint waits.
  expect(lone.store.completeNext()).toBe(true);
  await lone.clock.settle();
  expect(lone.snapshotStore.published(GROUP)).toEqual([4, last]);
  await pass(lone, 1);
  expect(lone.snapshotStore.published(GROUP)).toEqual([last]);
  expect(lone.replica.core.base.index).toBe(last);
});

test("a restarted replica has the state of its snapshot and of the entries after it", async () => {
  const before = await follower(6, { checkpointBytesMin: 6 * BYTES });
  await before.follow(entries(7, 9), { term: 1, prev: [6, 1], commit: 9 });
  expect(before.replica.core.base.index).toBe(6);
  const after = new LoneReplica({ after: before });
  await after.clock.settle();
  expect(after.replica.appliedIndex).toBe(6);
  // It had told the disk of a commit index when it took the snapshot, and hears of a later one.
  await after.follow([], { term: 1, prev: [9, 1], commit: 9 });
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, 9)));
  expect(after.replacements).toBe(1);
});

test("a replica answers nothing before it holds the state that it starts from", async () => {
  const before = await follower(6, { checkpointBytesMin: 6 * BYTES });
  // What is on disk beyond the snapshot, known to be committed, must wait for the state, too.
  await before.follow(entries(7, 9), { term: 1, prev: [6, 1], commit: 9 });
  await before.follow([], { term: 2, prev: [9, 1], commit: 9 });
  const after = new LoneReplica({ after: before, holds: "read" });
  await after.ticks(60);
  expect([after.replica.isRestored, after.replica.appliedIndex]).toEqual([false, 0]);
  expect(after.replica.replayedIndex).toBeGreaterThanOrEqual(6);
  await after.receive(OTHER, {
    kind: "requestVote",
    isTransfer: false,
    term: 5 as Term,
    lastIndex: 9 as LogIndex,
    lastTerm: 5 as Term,
  });
  const read = watchOutcome(after.replica.readIndex(after.deadline(1_000)));
  const waiting = watchOutcome(after.replica.waitApplied(3 as LogIndex, after.deadline(50)));
  const patient = watchOutcome(after.replica.waitApplied(3 as LogIndex, after.deadline(5_000)));
  const proposal = watchOutcome(after.replica.proposeEncoded(addBytes(1), after.deadline(1_000)));
  await after.ticks(10);
  expect(after.sent).toEqual([]);
  expect([read.value, waiting.value, patient.value]).toEqual([
    "notLeader",
    "deadlineExceeded",
    undefined,
  ]);
  expect(proposal.value).toMatchObject({ outcome: "notApplied", reason: "notLeader" });
  after.gate.open();
  await after.ticks(1);
  expect([after.replica.isRestored, after.replica.appliedIndex]).toEqual([true, 9]);
  expect(patient.value).toBe("ready");
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, 9)));
});

test("a crash before the step of a checkpoint is durable leaves what was before it", async () => {
  const before = new LoneReplica({ checkpointBytesMin: 6 * BYTES });
  await before.receive(PEER, {
    kind: "appendEntries",
    term: 1 as Term,
    prevIndex: 0 as LogIndex,
    prevTerm: 0 as Term,
    commitIndex: 6 as LogIndex,
    entries: entries(1, 6),
  });
  before.store.completeNext();
  await before.clock.settle();
  expect(before.snapshotStore.published(GROUP)).toEqual([6]);
  const after = new LoneReplica({ after: before });
  await after.follow([], { term: 1, prev: [6, 1], commit: 6 });
  expect([after.replica.core.base.index, after.replacements]).toEqual([0, 0]);
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, 6)));
});

test("a damaged snapshot stops the replica by name, and nothing is made up", async () => {
  const before = await follower(6, { checkpointBytesMin: 6 * BYTES });
  before.snapshotStore.damage({ group: GROUP, position: at(6) });
  const after = new LoneReplica({ after: before });
  await after.ticks(50);
  expect(after.halts).toHaveLength(1);
  expect(after.halts[0]).toMatch(
    /^group 1: its snapshot at index 6 cannot be restored: .*checksum/,
  );
  expect([after.sent, after.machine.total]).toEqual([[], 0]);
});

test("a snapshot of another version stops the replica by name", async () => {
  const before = await follower(6, { checkpointBytesMin: 6 * BYTES });
  const after = new LoneReplica({ after: before });
  after.machine.version = 2;
  await after.clock.settle();
  expect(after.halts).toEqual([
    "group 1: its snapshot at index 6 cannot be restored: it is of another version",
  ]);
});

test("a stop while the state is restored touches nothing afterwards", async () => {
  const before = await follower(6, { checkpointBytesMin: 6 * BYTES });
  const after = new LoneReplica({ after: before, holds: "read" });
  await after.clock.settle();
  after.replica.stop();
  const settled = watchOutcome(after.replica.settled().then(() => "settled"));
  await after.clock.settle();
  expect(settled.value).toBeUndefined();
  after.gate.open();
  await after.clock.settle();
  expect(settled.value).toBe("settled");
  expect([after.machine.total, after.replacements, after.halts]).toEqual([0, 0, []]);
});

test("an offered snapshot is fetched, made durable, and installed (§7)", async () => {
  const lone = await follower(3);
  const waiting = watchOutcome(lone.replica.waitApplied(10 as LogIndex, lone.deadline(1_000)));
  const beyond = watchOutcome(lone.replica.waitApplied(21 as LogIndex, lone.deadline(1_000)));
  await publish(lone.peerSnapshots, machineAt(GROUP, 20), at(20));
  await offer(lone, 20);
  await lone.clock.advance(20);
  // The step is on the way to the disk: until it is there the old state stands.
  expect(lone.replica.core.status()).toMatchObject({ isInstalling: true, snapshotIndex: 20 });
  expect([lone.replica.appliedIndex, waiting.value]).toEqual([3, undefined]);
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 3)));
  await lone.flush();
  expect(lone.replica.appliedIndex).toBe(20);
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 20)));
  expect([waiting.value, beyond.value, lone.replacements]).toEqual(["ready", undefined, 1]);
  expect(lone.replica.snapshots.isAwaited).toBe(false);
  // What follows is applied to the new state.
  await lone.follow(entries(21, 23), { term: 1, prev: [20, 1], commit: 23 });
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 23)));
  expect(beyond.value).toBe("ready");
});

test("what waited to be applied when a snapshot is installed is in it (NuRaft #407)", async () => {
  const lone = new LoneReplica();
  const { clock, replica } = lone;
  // Each entry uses up a slice: most of them wait for their turn of the loop.
  const apply = lone.machine.apply.bind(lone.machine);
  lone.machine.apply = (...args) => {
    clock.freeze(20);
    return apply(...args);
  };
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  const gate = new Gate(lone.snapshotStore, "read");
  await offer(lone, 40);
  await clock.advance(40);
  expect(gate.count).toBe(1);
  lone.holdsSlices = true;
  await lone.follow(entries(1, 30), { term: 1, prev: [0, 0], commit: 30 });
  expect(replica.appliedIndex).toBe(1);
  const waiting = watchOutcome(replica.waitApplied(20 as LogIndex, lone.deadline(5_000)));
  gate.open();
  for (let slice = 0; slice < 3; slice++) await lone.nextSlice();
  await lone.flush();
  expect([replica.appliedIndex, lone.replacements, waiting.value]).toEqual([40, 1, "ready"]);
  // The slice that was planned for the entries finds none of them.
  await lone.nextSlice();
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 40)));
  await lone.follow(entries(41, 42), { term: 1, prev: [40, 1], commit: 42 });
  for (let slice = 0; slice < 3; slice++) await lone.nextSlice();
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 42)));
});

test("proposals that an installed snapshot covers end as unknown, later ones wait on", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { term } = lone;
  const proposals = [1, 2, 3].map((amount) =>
    watchOutcome(lone.replica.proposeEncoded(addBytes(amount), lone.deadline(5_000))),
  );
  await lone.flush();
  expect(lone.replica.core.lastIndex).toBe(4);
  // Another leads, whose log has left ours behind: ours stands at 1, and its snapshot at 3.
  const nextTerm = term + 1;
  await publish(lone.peerSnapshots, machineAt(GROUP, 3), at(3, nextTerm));
  await lone.receive(PEER, {
    kind: "snapshotOffer",
    term: nextTerm as Term,
    position: at(3, nextTerm),
  });
  await pass(lone, 30);
  expect(lone.replica.appliedIndex).toBe(3);
  expect(proposals.map(({ value }) => value)).toEqual([
    { kind: "failed", outcome: "unknown", reason: "leaderChanged" },
    { kind: "failed", outcome: "unknown", reason: "leaderChanged" },
    undefined,
  ]);
  await lone.follow([entry(4, nextTerm, addBytes(9))], {
    term: nextTerm,
    prev: [3, nextTerm],
    commit: 4,
  });
  expect(proposals[2]?.value).toMatchObject({ outcome: "notApplied", reason: "leaderChanged" });
});

test("a snapshot that the log has overtaken meanwhile is dropped with its file (B13 a)", async () => {
  const lone = await follower(3);
  await publish(lone.peerSnapshots, machineAt(GROUP, 20), at(20));
  const gate = new Gate(lone.snapshotStore, "read");
  await offer(lone, 20);
  await lone.clock.advance(30);
  expect(gate.count).toBe(1);
  // The entries came after all, and more than the snapshot has.
  await lone.follow(entries(4, 25), { term: 1, prev: [3, 1], commit: 25 });
  gate.open();
  await pass(lone, 30);
  expect(lone.replica.appliedIndex).toBe(25);
  expect(lone.replica.core.status()).toMatchObject({ snapshotIndex: 0, lastIndex: 25 });
  expect(stateOf(lone.machine)).toEqual(stateOf(machineAt(GROUP, 25)));
  expect([lone.replacements, lone.snapshotStore.published(GROUP)]).toEqual([0, []]);
  // The same transfer once more: nobody even asks for it.
  await offer(lone, 20);
  await pass(lone, 30);
  expect(gate.count).toBe(1);
});

test("a checkpoint that an install overtakes is given up, and nothing of it is left", async () => {
  const lone = await follower(3, { checkpointBytesMin: 6 * BYTES });
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  const gate = new Gate(lone.snapshotStore, "append");
  await lone.follow(entries(4, 6), { term: 1, prev: [3, 1], commit: 6 });
  expect([gate.count, lone.machine.openCuts]).toEqual([1, 1]);
  await offer(lone, 40);
  await pass(lone, 40);
  expect([lone.replica.appliedIndex, lone.machine.openCuts]).toEqual([40, 0]);
  gate.open();
  await pass(lone, 10);
  expect(lone.replica.snapshots.checkpointStats.taken).toBe(0);
  expect(lone.snapshotStore.published(GROUP)).toEqual([40]);
  expect(lone.replica.core.status()).toMatchObject({ snapshotIndex: 40, baseIndex: 40 });
});

test("after an install checkpoints are taken as before", async () => {
  const lone = await follower(3, { checkpointBytesMin: 20 * BYTES });
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  await offer(lone, 40);
  await pass(lone, 40);
  expect(lone.replica.appliedIndex).toBe(40);
  await lone.follow(entries(41, 60), { term: 1, prev: [40, 1], commit: 60 });
  await pass(lone, 5);
  expect(lone.replica.core.status()).toMatchObject({ snapshotIndex: 60, baseIndex: 60 });
});

test("a replica that no leader offers a snapshot any more does not wait for it", async () => {
  const lone = await follower(3, { holds: "receiveAppend" });
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  await offer(lone, 40);
  await lone.ticks(900);
  expect(lone.replica.snapshots.isAwaited).toBe(true);
  await lone.ticks(200);
  expect(lone.replica.snapshots.isAwaited).toBe(false);
  lone.gate.open();
  await pass(lone, 50);
  expect([lone.replica.appliedIndex, lone.replacements]).toEqual([3, 0]);
});

test("a checkpoint that is published as an install begins does not move the snapshot back", async () => {
  const lone = await follower(3, { checkpointBytesMin: 6 * BYTES });
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  await lone.follow(entries(4, 6), { term: 1, prev: [3, 1], commit: 6 });
  const before = lone.replica.core.status();
  expect(before.snapshotIndex).toBe(6);
  await offer(lone, 40);
  await pass(lone, 40);
  await pass(lone, 10);
  expect(lone.replica.core.status()).toMatchObject({ snapshotIndex: 40, baseIndex: 40 });
  expect(lone.snapshotStore.published(GROUP)).toEqual([40]);
});

test("entries from the next leader make a fetch from the former needless", async () => {
  const lone = await follower(3);
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  const gate = new Gate(lone.snapshotStore, "receiveAppend");
  await offer(lone, 40);
  await lone.clock.advance(5);
  await lone.receive(OTHER, {
    kind: "appendEntries",
    term: 2 as Term,
    prevIndex: 3 as LogIndex,
    prevTerm: 1 as Term,
    commitIndex: 45 as LogIndex,
    entries: entries(4, 45),
  });
  await lone.flush();
  await lone.ticks(1);
  gate.open();
  await pass(lone, 50);
  expect([lone.replica.appliedIndex, lone.replacements]).toEqual([45, 0]);
  expect(lone.replica.snapshots.fetchStats).toMatchObject({ installed: 0, failed: 0 });
  expect(lone.replica.core.leaderId).toBe(replicaId(3));
});

test.each([
  ["before its step is durable: the old state", 0, 3, 0],
  ["when its step is durable and nobody was told: the new state", 1, 20, 20],
])("a crash in the middle of an install, %s (B13 b)", async (_what, kept, applied, snapshot) => {
  const before = await follower(3);
  await publish(before.peerSnapshots, machineAt(GROUP, 20), at(20));
  await offer(before, 20);
  await before.clock.advance(20);
  expect(before.replica.core.status().isInstalling).toBe(true);
  before.replica.stop();
  before.store.crash(kept);
  const after = new LoneReplica({ after: before });
  await after.clock.settle();
  expect(after.replica.core.status().snapshotIndex).toBe(snapshot);
  if (snapshot === 0) await after.follow([], { term: 1, prev: [3, 1], commit: 3 });
  expect(after.replica.appliedIndex).toBe(applied);
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, applied)));
});

test("a stop halfway through a transfer keeps what came, and the next process goes on (B13 c)", async () => {
  const before = await follower(3);
  await publish(before.peerSnapshots, machineAt(GROUP, 40), at(40));
  await offer(before, 40);
  await before.clock.advance(2);
  before.replica.stop();
  await before.replica.settled();
  const { receivedBytes } = before.replica.snapshots.fetchStats;
  expect(receivedBytes).toBeGreaterThan(0);
  await before.clock.advance(100);
  expect(before.replica.snapshots.fetchStats.receivedBytes).toBe(receivedBytes);
  const after = new LoneReplica({ after: before });
  await publish(after.peerSnapshots, machineAt(GROUP, 40), at(40));
  await after.follow([], { term: 1, prev: [3, 1], commit: 3 });
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, 3)));
  await offer(after, 40);
  await pass(after, 40);
  expect(stateOf(after.machine)).toEqual(stateOf(machineAt(GROUP, 40)));
  const total = await after.snapshotStore.openFile({ group: GROUP, position: at(40) });
  const { receivedBytes: rest } = after.replica.snapshots.fetchStats;
  expect(rest).toBe((total?.fileBytes ?? 0) - receivedBytes);
});

test("a follower that lags is brought up although its ticks and its leader go on", async () => {
  const lone = await follower(3);
  await publish(lone.peerSnapshots, machineAt(GROUP, 40), at(40));
  for (let round = 0; round < 20; round++) {
    await offer(lone, 40);
    await lone.ticks(1);
    await lone.flush();
  }
  expect([lone.replica.appliedIndex, lone.replacements]).toEqual([40, 1]);
  expect(lone.replica.snapshots.fetchStats).toMatchObject({ installed: 1, failed: 0 });
});
