import { expect, test } from "vitest";
import type { LogIndex } from "../../src/base/brands.ts";
import { RaftCore } from "../../src/raft/core.ts";
import {
  accepted,
  appendEntries,
  CheckedCore,
  entry,
  heartbeat,
  heartbeatReply,
  leaderWith,
  preVote,
  readyLeader,
  replica,
  requestVote,
} from "./checked-core.ts";
import { raftConfig } from "./raft-config.ts";

test("messages of replicas that are no voters are ignored", () => {
  const follower = new CheckedCore({ term: 1 });
  for (const from of [1, 4, 99]) {
    const output = follower.receive(from, heartbeat({ term: 7, commitIndex: 0 }));
    expect(output.sendNow).toEqual([]);
    expect(follower.status).toMatchObject({ term: 1, leaderId: undefined });
  }
});

test("an answer to a heartbeat of an earlier term echoes no round", () => {
  const follower = new CheckedCore({ term: 4 });
  const output = follower.receive(2, heartbeat({ term: 3, round: 37 }));
  expect(output.sendNow).toEqual([
    { to: replica(2), message: heartbeatReply({ term: 4, round: 0 }) },
  ]);
});

test("a restarted core delivers what it knows to be committed, with its first step", () => {
  const core = new CheckedCore({ entryTerms: [1, 1, 1], commitIndex: 2 });
  expect(core.tick().committed.map(({ index }) => index)).toEqual([1, 2]);
  expect(core.tick().committed).toEqual([]);
});

test("a restored state that contradicts itself is a bug", () => {
  expect(() => new CheckedCore({ entryTerms: [1], commitIndex: 2 })).toThrow("was committed");
  expect(() => new CheckedCore({ entryTerms: [3], term: 2 })).toThrow("not below its log's");
});

test("a configuration that contradicts itself is a bug", () => {
  const restored = {
    hardState: { term: 0, votedFor: undefined, commitIndex: 0 },
    entries: [],
  } as unknown as ConstructorParameters<typeof RaftCore>[1];
  const wrong = [
    { voters: [2, 3].map(replica) },
    { voters: [2, 1].map(replica) },
    { voters: [1, 1].map(replica) },
    { electionTimeoutTicksMin: 9 },
    { electionTimeoutTicksMax: 10 },
    { inflightMessagesMax: 0 },
  ];
  for (const changes of wrong) {
    expect(() => new RaftCore(raftConfig(changes), restored), JSON.stringify(changes)).toThrow();
  }
});

test("reads that wait are bounded, at the leader and at followers (R19)", () => {
  const leader = readyLeader({}, { pendingReadsMax: 2 });
  leader.read(1);
  leader.read(2);
  expect(leader.read(3).refused).toEqual([
    { kind: "read", id: 3, reason: "overloaded", leaderId: 1 },
  ]);
  const request = { kind: "readIndexRequest", term: 1, readId: 9 } as never;
  expect(leader.receive(2, request).sendNow).toEqual([
    {
      to: 2,
      message: { kind: "readIndexReply", term: 1, readId: 9, readIndex: undefined },
    },
  ]);
  const follower = new CheckedCore({ term: 1 }, { pendingReadsMax: 1 });
  follower.receive(2, heartbeat({ term: 1 }));
  follower.read(1);
  expect(follower.read(2).refused).toEqual([
    { kind: "read", id: 2, reason: "overloaded", leaderId: 2 },
  ]);
});

test("a read that the leader does not answer is given up after an election timeout", () => {
  const follower = new CheckedCore({ term: 1 });
  follower.receive(2, heartbeat({ term: 1 }));
  follower.read(1);
  for (let i = 1; i < 20; i++) {
    expect(follower.tick().refused).toEqual([]);
    follower.receive(2, heartbeat({ term: 1 }));
  }
  expect(follower.tick().refused).toEqual([
    { kind: "read", id: 1, reason: "leaderChanged", leaderId: 2 },
  ]);
});

test("a leader before its first commit keeps reads, and answers them after it (§8)", () => {
  const leader = leaderWith({ term: 1 });
  expect(leader.read(1).readsReady).toEqual([]);
  leader.receive(2, accepted({ term: 2, matchIndex: 1 }));
  const output = leader.receive(3, heartbeatReply({ term: 2, round: 2 }));
  expect(output.readsReady).toEqual([{ readId: 1, readIndex: 1 }]);
});

test("a follower whose connection to the leader broke stands within four ticks", () => {
  const ticksUntil = new Set<number>();
  for (let seed = 1; seed <= 40; seed++) {
    const follower = new CheckedCore({ term: 1 }, { seed });
    follower.receive(2, heartbeat({ term: 1 }));
    follower.step({ kind: "peerUnreachable", peer: replica(2) });
    let ticks = 1;
    while (!follower.tick().transitions.some(({ kind }) => kind === "becamePreCandidate")) ticks++;
    ticksUntil.add(ticks);
  }
  expect([...ticksUntil].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});

test("a broken connection to another replica than the leader changes nothing", () => {
  const follower = new CheckedCore({ term: 1 });
  follower.receive(2, heartbeat({ term: 1 }));
  expect(follower.step({ kind: "peerUnreachable", peer: replica(3) }).transitions).toEqual([]);
  expect(follower.status.leaderId).toBe(2);
});

test("a leader whose connection to a follower broke probes it again", () => {
  const leader = readyLeader();
  leader.propose("a");
  leader.step({ kind: "peerUnreachable", peer: replica(2) });
  expect(leader.status.progress[0]).toMatchObject({ mode: "probe", matchIndex: 1, nextIndex: 2 });
  expect(leader.status.progress[1]).toMatchObject({ mode: "replicate", nextIndex: 3 });
});

test("a vote in a term whose leader is known is pointless and not given", () => {
  const follower = new CheckedCore({ term: 3 });
  follower.receive(2, heartbeat({ term: 3 }));
  follower.tick(10);
  follower.receive(3, requestVote({ term: 3, lastIndex: 9, lastTerm: 3 }));
  expect(follower.status).toMatchObject({ votedFor: undefined, leaderId: 2 });
});

test("two leaders in one term are a bug (R1)", () => {
  const follower = new CheckedCore({ term: 3 });
  follower.receive(2, heartbeat({ term: 3 }));
  expect(() => follower.receive(3, heartbeat({ term: 3 }))).toThrow("a term has one leader");
  const leader = leaderWith({ term: 1 });
  expect(() => leader.receive(2, heartbeat({ term: 2 }))).toThrow("a term has one leader");
});

test("a conflict at or below the commit index is a bug (R10)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1], commitIndex: 2 });
  const entries = [entry(2, 2)];
  const append = appendEntries({ term: 2, prevIndex: 1, prevTerm: 1, entries });
  expect(() => follower.receive(2, append)).toThrow("never truncated");
});

test("the applied index follows the host's reports, and they follow what was delivered (R9)", () => {
  const core = new CheckedCore({ entryTerms: [1, 1, 1], commitIndex: 2 });
  core.tick();
  core.step({ kind: "applied", index: 2 as LogIndex });
  expect(core.status.appliedIndex).toBe(2);
  expect(() => core.step({ kind: "applied", index: 1 as LogIndex })).toThrow("R9");
  expect(() => core.step({ kind: "applied", index: 3 as LogIndex })).toThrow("R9");
});

test("the commit index on disk is refreshed when it lags by 256 entries", () => {
  const leader = readyLeader();
  let written = 0;
  for (let index = 2; index <= 300; index++) {
    const { persist } = leader.propose("");
    if (persist?.hardState !== undefined) written = persist.hardState.commitIndex;
    leader.persistAll();
    leader.receive(2, accepted({ term: 1, matchIndex: index }));
  }
  expect(written).toBe(256);
});

test("followers at the same place are sent the same message object", () => {
  const [toTwo, toThree] = readyLeader().propose("a").sendNow;
  expect(toTwo?.message).toBe(toThree?.message);
});

test("an idle step shares one empty list, which nobody can change", () => {
  const output = new CheckedCore({}).tick();
  expect(output.sendNow).toBe(output.committed);
  expect(Object.isFrozen(output.sendNow)).toBe(true);
});

test("clones behave the same from the same inputs, and each goes its own way", () => {
  const leader = readyLeader({ entryTerms: [1] });
  leader.propose("a");
  leader.read(1);
  const copy = leader.core.clone();
  expect(copy.canonicalForm()).toBe(leader.core.canonicalForm());
  const input = { kind: "tick", nowMs: 70 } as never;
  const outputs = [leader.core.step(input), copy.step(input)];
  expect(outputs[0]).toEqual(outputs[1]);
  expect(copy.canonicalForm()).toBe(leader.core.canonicalForm());
  copy.step({ kind: "tick", nowMs: 140 } as never);
  expect(copy.canonicalForm()).not.toBe(leader.core.canonicalForm());
});

test("the canonical form tells states apart that differ in one field", () => {
  const forms = new Set<string>();
  const note = (core: CheckedCore): void => void forms.add(core.core.canonicalForm());
  const follower = new CheckedCore({ term: 1 });
  note(follower);
  follower.tick();
  note(follower);
  follower.receive(2, heartbeat({ term: 1 }));
  note(follower);
  follower.read(1);
  note(follower);
  follower.receive(2, preVote({ term: 2, nextTerm: 3, lastIndex: 0, lastTerm: 0 }));
  follower.receive(3, heartbeat({ term: 2 }));
  note(follower);
  follower.persistOne();
  note(follower);
  const leader = readyLeader();
  note(leader);
  leader.propose("a");
  note(leader);
  leader.persistAll();
  note(leader);
  leader.receive(2, heartbeatReply({ term: 1, round: 1 }));
  note(leader);
  leader.read(5);
  note(leader);
  expect(forms.size).toBe(11);
});
