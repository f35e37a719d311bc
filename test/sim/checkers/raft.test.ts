// Each checker of raft's properties can fail: it is shown a world in which its property is broken.
import { expect, test } from "vitest";
import type {
  GroupId,
  LogIndex,
  LogTimeMs,
  ReplicaId,
  ServerId,
  Term,
} from "../../../src/base/brands.ts";
import { EMPTY_BYTES } from "../../../src/base/bytes.ts";
import type { Message } from "../../../src/raft/messages.ts";
import type { Output } from "../../../src/raft/output.ts";
import type { RaftStatus } from "../../../src/raft/status.ts";
import type { Entry, HardState } from "../../../src/raft/types.ts";
import { positionKey } from "../entries.ts";
import { GroupHistory, type Step } from "../group-history.ts";
import { DurableLog } from "../store-model.ts";
import { broken } from "./broken.ts";
import { LeadersChecker } from "./p01-leaders.ts";
import { checkDurable } from "./p02-durable.ts";
import { checkLogMatching } from "./p03-log-matching.ts";
import { checkLeaderLog } from "./p04-leader-log.ts";
import { CommittedChecker } from "./p05-committed.ts";
import { checkMatchIndexes } from "./p06-match-index.ts";
import { checkOffer, checkSnapshots } from "./p10-snapshots.ts";
import { LogTimeChecker } from "./p19-log-time.ts";

const GROUP = 1 as GroupId;

function entry(index: number, term: number, timeMs = 0, payload = EMPTY_BYTES): Entry {
  return {
    index: index as LogIndex,
    term: term as Term,
    kind: "command",
    timeMs: timeMs as LogTimeMs,
    payload,
  };
}

interface StepFacts {
  readonly server?: number;
  readonly before?: Partial<RaftStatus>;
  readonly after?: object;
  readonly log?: readonly Entry[];
  readonly persist?: { entries: readonly Entry[]; truncateFrom?: number };
  readonly install?: object;
  readonly trueMs?: number;
}

/** A step of which only what matters is filled in. */
function step(facts: StepFacts): Step {
  const { server = 1, before, after, log = [], persist, install, trueMs = 0 } = facts;
  const usual = { role: "follower", term: 1, commitIndex: 0, progress: [] };
  return {
    server: server as ServerId,
    group: GROUP,
    core: { entryAt: (index: number) => log[index - 1] } as unknown as Step["core"],
    before: { ...usual, ...before } as unknown as RaftStatus,
    after: { ...usual, ...after } as unknown as RaftStatus,
    input: { kind: "tick", nowMs: 0 } as unknown as Step["input"],
    output: { fetches: [], install, persist } as unknown as Output,
    trueMs,
  };
}

function diskWith(facts: { hardState?: Partial<HardState>; entries?: Entry[] }): DurableLog {
  const disk = new DurableLog();
  disk.hardState = { ...disk.hardState, ...facts.hardState };
  disk.entries = facts.entries ?? [];
  return disk;
}

function outbound(message: object, to = 2): { to: ReplicaId; message: Message } {
  return { to: to as ReplicaId, message: message as Message };
}

/** A history in which these are committed, each in its own term. */
function historyOf(...entries: readonly Entry[]): GroupHistory {
  const history = new GroupHistory(GROUP);
  for (const [at, one] of entries.entries()) {
    const prevTerm = entries[at - 1]?.term ?? 0;
    history.made.set(positionKey(one), { entry: one, prevTerm, stampedMs: 0 });
    history.committed.push(one);
    history.committedInTerm.push(one.term);
  }
  return history;
}

const leads = { role: "leader", term: 2 };

test("1: two leaders of one term, a vote for two, and a term that goes back", () => {
  const leaders = new LeadersChecker();
  leaders.onStep(step({ server: 1, after: leads }));
  leaders.onStep(step({ server: 1, after: leads }));
  expect(broken(() => leaders.onStep(step({ server: 2, after: leads })))).toBe(1);
  const server = 1 as ServerId;
  const vote = { kind: "requestVoteReply", term: 2, granted: true };
  leaders.onSend(server, outbound(vote, 2));
  leaders.onSend(server, outbound(vote, 2));
  expect(broken(() => leaders.onSend(server, outbound(vote, 3)))).toBe(1);
  leaders.onRestart(server, 2);
  expect(broken(() => leaders.onRestart(server, 1))).toBe(1);
});

test("2: a term, a vote and entries that are sent before they are on disk", () => {
  const disk = diskWith({ hardState: { term: 2 as Term }, entries: [entry(1, 2)] });
  const ack = (matchIndex: number): object => ({
    kind: "appendEntriesReply",
    term: 2,
    result: { kind: "accepted", matchIndex },
  });
  checkDurable(disk, outbound(ack(1)), 1);
  expect(broken(() => checkDurable(disk, outbound(ack(2)), 1))).toBe(2);
  const heartbeat = { kind: "heartbeat", term: 3 };
  expect(broken(() => checkDurable(disk, outbound(heartbeat), 1))).toBe(2);
  const vote = { kind: "requestVoteReply", term: 2, granted: true };
  expect(broken(() => checkDurable(disk, outbound(vote), 1))).toBe(2);
});

test("3: an entry that differs, that nobody made, or that stands before its time", () => {
  const history = historyOf(entry(1, 1));
  const persisting = (...entries: Entry[]): Step => {
    return step({ after: leads, log: [entry(1, 1, 5), ...entries], persist: { entries } });
  };
  checkLogMatching(history, persisting(entry(2, 2, 5)));
  checkLogMatching(history, persisting(entry(2, 2, 5)));
  const other = entry(2, 2, 5, new Uint8Array([1]));
  expect(broken(() => checkLogMatching(history, persisting(other)))).toBe(3);
  expect(broken(() => checkLogMatching(history, persisting(entry(2, 2, 4))))).toBe(3);
  expect(broken(() => checkLogMatching(history, persisting(entry(2, 1, 6))))).toBe(3);
});

test("4: a leader without what was committed, and one that cuts its own log", () => {
  const history = historyOf(entry(1, 1), entry(2, 1));
  const elected = (...log: Entry[]): Step => step({ after: leads, log });
  checkLeaderLog(history, elected(entry(1, 1), entry(2, 1)));
  expect(broken(() => checkLeaderLog(history, elected(entry(1, 1))))).toBe(4);
  const persist = { entries: [], truncateFrom: 2 };
  const before = leads as Partial<RaftStatus>;
  expect(broken(() => checkLeaderLog(history, step({ before, after: leads, persist })))).toBe(4);
});

function committedChecker(history: GroupHistory, ...disks: DurableLog[]): CommittedChecker {
  return new CommittedChecker({ history, disks: () => disks, onCommitted: () => {} });
}

test("5: committed with too few copies, differently at two servers, or cut off a quorum", () => {
  const log = [entry(1, 2)];
  const commits = (facts: StepFacts): Step => {
    return step({ log, ...facts, after: { commitIndex: 1, ...facts.after } });
  };
  const full = diskWith({ entries: log });
  const few = committedChecker(historyOf(), full, diskWith({}), diskWith({}));
  expect(broken(() => few.onStep(commits({ after: leads })))).toBe(5);
  const copy = diskWith({ entries: log });
  const committed = committedChecker(historyOf(), full, copy, diskWith({}));
  committed.onStep(commits({ after: leads }));
  committed.onStep(commits({ server: 2 }));
  const other = [entry(1, 2, 0, new Uint8Array([1]))];
  expect(broken(() => committed.onStep(commits({ server: 2, log: other })))).toBe(5);
  // By one that follows a leader of the past.
  committed.onCut(log, leads.term - 1);
  expect(broken(() => committed.onCut(log, leads.term))).toBe(5);
  copy.entries = [];
  expect(broken(() => committed.onCut(log, leads.term - 1))).toBe(5);
  const server = 3 as ServerId;
  expect(broken(() => committed.onRestart(server, 1, () => other[0]))).toBe(5);
  expect(broken(() => committed.onRestart(server, 2, () => undefined))).toBe(5);
});

test("6: a match index that counts what is not on the follower's disk", () => {
  const log = [entry(1, 2)];
  const progress = [{ peer: 2, matchIndex: 1 }];
  const counts = step({ after: { ...leads, progress }, log });
  const hardState = { term: 2 as Term };
  checkMatchIndexes(counts, () => diskWith({ hardState, entries: log }));
  expect(broken(() => checkMatchIndexes(counts, () => diskWith({ hardState })))).toBe(6);
});

test("7: a follower that is the first to commit, and a count of an earlier term's entry", () => {
  const log = [entry(1, 1)];
  const full = diskWith({ entries: log });
  const follower = committedChecker(historyOf(), full, full, full);
  expect(broken(() => follower.onStep(step({ log, after: { commitIndex: 1 } })))).toBe(7);
  const after = { ...leads, commitIndex: 1 };
  expect(broken(() => follower.onStep(step({ log, after })))).toBe(7);
});

test("10: a snapshot of what is not committed, a log with a gap, a state that goes back", () => {
  const history = historyOf(entry(1, 1), entry(2, 1));
  const indexes = { baseIndex: 1, snapshotIndex: 2, appliedIndex: 2 };
  const installing = (index: number, term: number, after: object = {}): Step => {
    const before = { appliedIndex: 1 } as Partial<RaftStatus>;
    return step({ before, install: { index, term }, after: { ...indexes, ...after } });
  };
  checkSnapshots(history, installing(2, 1));
  expect(broken(() => checkSnapshots(history, installing(3, 1)))).toBe(10);
  expect(broken(() => checkSnapshots(history, installing(2, 2)))).toBe(10);
  expect(broken(() => checkSnapshots(history, installing(2, 1, { baseIndex: 3 })))).toBe(10);
  expect(broken(() => checkSnapshots(history, installing(2, 1, { appliedIndex: 0 })))).toBe(10);
  const offer = outbound({ kind: "snapshotOffer", term: 2, position: { index: 3, term: 1 } });
  expect(broken(() => checkOffer(history, 1, offer))).toBe(10);
});

test("19: log time that gains more than rho on true time", () => {
  const logTime = new LogTimeChecker();
  const stamp = (timeMs: number, stampedMs: number): void => {
    logTime.onCommitted({ entry: entry(1, 1, timeMs), prevTerm: 0, stampedMs });
  };
  stamp(0, 0);
  stamp(1_010, 1_000);
  stamp(1_500, 2_000);
  expect(broken(() => stamp(2_600, 3_000))).toBe(19);
});
