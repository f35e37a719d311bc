/** The host of a replica: durability before words, one answer for each who waits, and the end. */

import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import type { Message } from "../../src/raft/messages.ts";
import { add } from "./counting-machine.ts";
import { addBytes, entry, LoneReplica, OTHER, PEER, watchOutcome } from "./lone-replica.ts";

const VOTE: Message = {
  kind: "requestVote",
  isTransfer: false,
  term: 5 as Term,
  lastIndex: 9 as LogIndex,
  lastTerm: 4 as Term,
};

test("a vote leaves only when it is on disk", async () => {
  const lone = new LoneReplica();
  await lone.receive(PEER, VOTE);
  await lone.ticks(2);
  expect(lone.take("requestVoteReply")).toEqual([]);
  expect(lone.store.loaded()[0]?.hardState.votedFor).toBeUndefined();
  await lone.flush();
  expect(lone.take("requestVoteReply")).toEqual([
    { kind: "requestVoteReply", term: 5, granted: true },
  ]);
  expect(lone.store.loaded()[0]?.hardState).toMatchObject({ term: 5, votedFor: PEER });
});

test("an acknowledgement leaves only when its entries are on disk, in order of the writes", async () => {
  const lone = new LoneReplica();
  const append = (index: number): Message => ({
    kind: "appendEntries",
    term: 1 as Term,
    prevIndex: (index - 1) as LogIndex,
    prevTerm: (index === 1 ? 0 : 1) as Term,
    commitIndex: 0 as LogIndex,
    entries: [entry(index, 1, addBytes(1))],
  });
  for (const index of [1, 2, 3]) await lone.receive(PEER, append(index));
  // A repeat needs no write of its own, and still vouches for what is under way.
  await lone.receive(PEER, append(3));
  expect(lone.take("appendEntriesReply")).toEqual([]);
  const vouched: number[] = [];
  while (lone.store.completeNext()) {
    await lone.clock.settle();
    const durable = lone.store.loaded()[0]?.entries.length ?? 0;
    for (const { result } of lone.take("appendEntriesReply")) {
      if (result.kind !== "accepted") throw new Error("it is accepted");
      expect(result.matchIndex).toBeLessThanOrEqual(durable);
      vouched.push(result.matchIndex);
    }
  }
  expect(vouched).toEqual([1, 2, 3, 3]);
});

test("a proposal is answered once it is committed and applied, with the machine's answer", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const outcomes = [3, 4].map((amount) =>
    watchOutcome(lone.replica.propose(add(amount), lone.deadline(1_000))),
  );
  await lone.flush();
  expect(outcomes.map(({ value }) => value)).toEqual([undefined, undefined]);
  expect(lone.replica.pendingProposals).toBe(2);
  await lone.acknowledge();
  expect(outcomes.map(({ value }) => value)).toEqual([
    { kind: "applied", index: 2, answer: { total: 3, index: 2 } },
    { kind: "applied", index: 3, answer: { total: 7, index: 3 } },
  ]);
  expect(lone.replica.pendingProposals).toBe(0);
});

test("a replica that does not lead refuses proposals: certainly without effect", async () => {
  const lone = new LoneReplica();
  const outcome = watchOutcome(lone.replica.propose(add(1), lone.deadline(1_000)));
  await lone.flush();
  expect(outcome.value).toEqual({ kind: "failed", outcome: "notApplied", reason: "notLeader" });
});

test("at its deadline a proposal's outcome is unknown, and it may be applied afterwards", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const outcome = watchOutcome(lone.replica.propose(add(3), lone.deadline(30)));
  await lone.ticks(2);
  expect(outcome.value).toBeUndefined();
  await lone.ticks(2);
  expect(outcome.value).toEqual({
    kind: "failed",
    outcome: "unknown",
    reason: "deadlineExceeded",
  });
  await lone.acknowledge();
  expect(lone.machine.total).toBe(3);
});

test("a proposal that still waits to be appended at its deadline is unknown, too", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const outcome = watchOutcome(lone.replica.propose(add(3), lone.deadline(0)));
  // The tick comes before the flush.
  lone.replica.tick();
  await lone.flush();
  expect(outcome.value).toMatchObject({ outcome: "unknown", reason: "deadlineExceeded" });
  await lone.acknowledge();
  expect(lone.machine.total).toBe(3);
});

test("a proposal is lost for certain only when another entry was applied in its place", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { term } = lone;
  const outcome = watchOutcome(lone.replica.propose(add(3), lone.deadline(10_000)));
  await lone.flush();
  const other = [entry(2, term + 1, addBytes(5))];
  await lone.follow(other, { term: term + 1, prev: [1, term], commit: 1 });
  expect(lone.replica.core.role).toBe("follower");
  expect(outcome.value).toBeUndefined();
  await lone.follow([], { term: term + 1, prev: [2, term + 1], commit: 2 });
  expect(outcome.value).toEqual({
    kind: "failed",
    outcome: "notApplied",
    reason: "leaderChanged",
  });
  expect(lone.machine.applied).toEqual(["noop", "add 5"]);
});

test("an entry that left this log, and whose place is taken by a new proposal, is unknown", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { term } = lone;
  const first = watchOutcome(lone.replica.propose(add(3), lone.deadline(10_000)));
  await lone.flush();
  const second = watchOutcome(lone.replica.propose(add(4), lone.deadline(10_000)));
  const replaced = watchOutcome(lone.replica.propose(add(9), lone.deadline(10_000)));
  await lone.flush();
  // The next leader replaces entry 2 alone, nothing of it is committed, and then we lead again:
  // entry 3 is our new noop, 4 a new proposal.
  const other = [entry(2, term + 1)];
  await lone.follow(other, { term: term + 1, prev: [1, term], commit: 1 });
  await lone.campaign();
  const third = watchOutcome(lone.replica.propose(add(5), lone.deadline(10_000)));
  const fourth = watchOutcome(lone.replica.propose(add(6), lone.deadline(10_000)));
  await lone.flush();
  expect([first.value, second.value, third.value]).toEqual([undefined, undefined, undefined]);
  expect(replaced.value).toMatchObject({ outcome: "unknown", reason: "leaderChanged" });
  await lone.acknowledge();
  expect(first.value).toMatchObject({ outcome: "notApplied", reason: "leaderChanged" });
  expect(second.value).toMatchObject({ outcome: "notApplied", reason: "leaderChanged" });
  expect(third.value).toMatchObject({ kind: "applied", index: 4, answer: { total: 5 } });
  expect(fourth.value).toMatchObject({ kind: "applied", index: 5, answer: { total: 11 } });
});

test("readers of one turn share a read; one that comes later never joins what was sent", async () => {
  const lone = new LoneReplica();
  await lone.follow([entry(1, 1)], { term: 1, prev: [0, 0], commit: 1 });
  lone.sent.length = 0;
  const early = [1, 2].map(() => watchOutcome(lone.replica.readIndex(lone.deadline(1_000))));
  await lone.flush();
  const late = watchOutcome(lone.replica.readIndex(lone.deadline(1_000)));
  await lone.flush();
  const requests = lone.take("readIndexRequest");
  expect(requests).toHaveLength(2);
  const [first, second] = requests.map(({ readId }) => readId);
  if (first === undefined || second === undefined) throw new Error("there are two");
  expect(second).not.toBe(first);
  const reply = { kind: "readIndexReply", term: 1 as Term, readIndex: 1 as LogIndex } as const;
  await lone.receive(PEER, { ...reply, readId: first });
  expect(early.map(({ value }) => value)).toEqual(["ready", "ready"]);
  expect(late.value).toBeUndefined();
  await lone.receive(PEER, { ...reply, readId: second });
  expect(late.value).toBe("ready");
});

test("a late answer to a read of the former process is not taken for the present one's", async () => {
  const lone = new LoneReplica({ seed: 1 });
  await lone.follow([entry(1, 1)], { term: 1, prev: [0, 0], commit: 1 });
  void lone.replica.readIndex(lone.deadline(1_000));
  await lone.flush();
  const [asked] = lone.take("readIndexRequest");
  if (asked === undefined) throw new Error("a read is asked for");
  const again = new LoneReplica({ seed: 2, after: lone });
  await again.follow([], { term: 1, prev: [1, 1], commit: 1 });
  const outcome = watchOutcome(again.replica.readIndex(again.deadline(1_000)));
  await again.flush();
  expect(again.take("readIndexRequest")).toHaveLength(1);
  await again.receive(PEER, {
    kind: "readIndexReply",
    term: 1 as Term,
    readId: asked.readId,
    readIndex: 1 as LogIndex,
  });
  expect(outcome.value).toBeUndefined();
  expect(Number.isSafeInteger(asked.readId)).toBe(true);
});

test("a read waits until its index is applied here, up to its deadline", async () => {
  const lone = new LoneReplica();
  await lone.follow([entry(1, 1)], { term: 1, prev: [0, 0], commit: 1 });
  const waiting = watchOutcome(lone.replica.readIndex(lone.deadline(1_000)));
  const short = watchOutcome(lone.replica.readIndex(lone.deadline(20)));
  const sentAtMs = lone.clock.nowMs();
  await lone.flush();
  const [request] = lone.take("readIndexRequest");
  if (request === undefined) throw new Error("a read is asked for");
  await lone.clock.advance(5);
  await lone.receive(PEER, {
    kind: "readIndexReply",
    term: 1 as Term,
    readId: request.readId,
    readIndex: 3 as LogIndex,
  });
  expect([lone.replica.confirmedAtMs, lone.replica.currentAtMs]).toEqual([sentAtMs, undefined]);
  expect(lone.replica.knownCommitIndex).toBe(3);
  expect(waiting.value).toBeUndefined();
  await lone.ticks(3);
  expect(short.value).toBe("deadlineExceeded");
  const rest = [entry(2, 1, addBytes(1)), entry(3, 1, addBytes(1))];
  await lone.follow(rest, { term: 1, prev: [1, 1], commit: 2 });
  expect(waiting.value).toBeUndefined();
  await lone.follow([], { term: 1, prev: [3, 1], commit: 3 });
  expect(waiting.value).toBe("ready");
  expect(lone.replica.currentAtMs).toBe(sentAtMs);
});

test("Expire is proposed by a ready leader when something is due, and one at a time (law 9)", async () => {
  const lone = new LoneReplica();
  await lone.campaign();
  lone.machine.dueMs = 0 as never;
  await lone.ticks(3);
  expect(lone.replica.pendingProposals).toBe(0);
  await lone.acknowledge();
  lone.machine.dueMs = undefined;
  void lone.replica.propose({ kind: "remind", atMs: 200 }, lone.deadline(1_000));
  await lone.acknowledge();
  const expires = (): number => lone.machine.applied.filter((what) => what === "expire").length;
  while ((lone.replica.core.leaderTimeMs ?? 0) < 200) {
    expect(lone.replica.pendingProposals).toBe(0);
    await lone.ticks(1);
    await lone.acknowledge();
  }
  // Due: the next ticks propose once, however long the commit takes.
  await lone.ticks(1);
  await lone.flush();
  const pending = lone.replica.pendingProposals;
  await lone.ticks(3);
  expect(lone.replica.pendingProposals).toBe(pending);
  await lone.acknowledge();
  await lone.ticks(3);
  await lone.acknowledge();
  expect(expires()).toBe(1);
  expect(lone.replica.pendingProposals).toBe(0);
});

test("a command that cannot be read stops the replica exactly there, and takes nothing in", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { term } = lone;
  const index = lone.replica.core.lastIndex;
  const unknown = entry(index + 1, term + 1, new Uint8Array([99]));
  const after = entry(index + 2, term + 1, addBytes(7));
  const place = { term: term + 1, prev: [index, term] as [number, number], commit: index };
  await lone.follow([unknown, after], place);
  const waiter = watchOutcome(
    lone.replica.waitApplied((index + 2) as LogIndex, lone.deadline(500)),
  );
  // One turn: the commit that halts, and an append behind it.
  const prevIndex = (index + 2) as LogIndex;
  const tail = { kind: "appendEntries", term: (term + 1) as Term, prevIndex } as const;
  const append = { ...tail, prevTerm: (term + 1) as Term, commitIndex: prevIndex };
  await lone.receive(
    PEER,
    { ...append, entries: [] },
    { ...append, entries: [entry(index + 3, term + 1)] },
  );
  await lone.flush();
  expect(lone.halts).toEqual([
    `group 1: the command at index ${index + 1} is unknown: tag 99 is unknown;` +
      " install a version that knows it",
  ]);
  expect(lone.replica.appliedIndex).toBe(index);
  expect(lone.machine.total).toBe(0);
  expect(lone.store.loaded()[0]?.entries).toHaveLength(index + 2);
  expect(waiter.value).toBe("deadlineExceeded");
  await lone.ticks(30);
  expect(lone.halts).toHaveLength(1);
  expect(lone.take("preVote")).toEqual([]);
});

test("a halted leader appends nothing of what it has just refused", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { term } = lone;
  void lone.replica.proposeEncoded(new Uint8Array([99]), lone.deadline(1_000));
  await lone.flush();
  const index = lone.replica.core.lastIndex;
  // One turn: the acknowledgement that commits the unknown command, then a proposal.
  const result = { kind: "accepted", matchIndex: index } as const;
  lone.replica.receive(PEER, { kind: "appendEntriesReply", term, result });
  const outcome = watchOutcome(lone.replica.propose(add(1), lone.deadline(1_000)));
  await lone.flush();
  expect(lone.halts).toHaveLength(1);
  expect(outcome.value).toEqual({
    kind: "failed",
    outcome: "notApplied",
    reason: "shuttingDown",
  });
  expect(lone.store.loaded()[0]?.entries).toHaveLength(index);
});

test("stop answers everyone, those who come afterwards included", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const { replica } = lone;
  const index = (replica.core.lastIndex + 5) as LogIndex;
  const inLog = watchOutcome(replica.propose(add(1), lone.deadline(9_000)));
  await lone.flush();
  const queued = watchOutcome(replica.propose(add(2), lone.deadline(9_000)));
  const applied = watchOutcome(replica.waitApplied(index, lone.deadline(9_000)));
  const read = watchOutcome(replica.readIndex(lone.deadline(9_000)));
  replica.stop();
  const later = [
    watchOutcome<unknown>(replica.propose(add(3), lone.deadline(9_000))),
    watchOutcome<unknown>(replica.readIndex(lone.deadline(9_000))),
    watchOutcome<unknown>(replica.waitApplied(index, lone.deadline(9_000))),
  ];
  await lone.flush();
  const stopping = { kind: "failed", reason: "shuttingDown" };
  expect(inLog.value).toEqual({ ...stopping, outcome: "unknown" });
  expect(queued.value).toEqual({ ...stopping, outcome: "notApplied" });
  expect([applied.value, read.value]).toEqual(["deadlineExceeded", "deadlineExceeded"]);
  expect(later.map(({ value }) => value)).toEqual([
    { ...stopping, outcome: "notApplied" },
    "notLeader",
    "notLeader",
  ]);
  lone.sent.length = 0;
  await lone.receive(OTHER, VOTE);
  await lone.ticks(50);
  expect(lone.sent).toEqual([]);
  expect(replica.pendingProposals).toBe(0);
});

test("more proposals than fit are refused as overloaded, and none is left without an answer", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  const outcomes = Array.from({ length: 10_050 }, () =>
    watchOutcome(lone.replica.propose(add(1), lone.deadline(1_000))),
  );
  await lone.acknowledge();
  await lone.acknowledge();
  const applied = outcomes.filter(({ value }) => value?.kind === "applied").length;
  const refused = outcomes.filter(
    ({ value }) =>
      value?.kind === "failed" && value.outcome === "notApplied" && value.reason === "overloaded",
  ).length;
  expect(applied + refused).toBe(outcomes.length);
  expect(refused).toBeGreaterThanOrEqual(50);
  expect(lone.machine.total).toBe(applied);
});

test("a replica that restarts applies again what it knew to be committed, and only that", async () => {
  const lone = new LoneReplica();
  await lone.lead();
  for (const amount of [1, 2]) {
    void lone.replica.propose(add(amount), lone.deadline(1_000));
    await lone.acknowledge();
  }
  expect(lone.machine.total).toBe(3);
  const again = new LoneReplica({ seed: 2, after: lone });
  await again.ticks(1);
  expect(again.replica.core.lastIndex).toBe(3);
  await again.follow([], { term: lone.term + 1, prev: [3, lone.term], commit: 3 });
  expect(again.machine.applied).toEqual(["noop", "add 1", "add 2"]);
  expect(again.replica.appliedIndex).toBe(3);
});
