/** Raft, Figure 2: the rules for servers, by role. */

import { expect, test } from "vitest";
import type { Message } from "../../src/raft/messages.ts";
import {
  accepted,
  appendEntries,
  candidateWith,
  CheckedCore,
  entry,
  heartbeat,
  heartbeatReply,
  leaderWith,
  preVoteReply,
  readyLeader,
  rejected,
  replica,
  requestVote,
  voteReply,
} from "./checked-core.ts";

// ---- All servers

test("what is committed is handed out in order, once (all servers 1, §5.3)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1, 1] });
  const first = follower.receive(2, heartbeat({ term: 1, commitIndex: 2 }));
  expect(first.committed).toEqual([entry(1, 1), entry(1, 2)]);
  const second = follower.receive(2, heartbeat({ term: 1, commitIndex: 3 }));
  expect(second.committed).toEqual([entry(1, 3)]);
  const third = follower.receive(2, heartbeat({ term: 1, commitIndex: 3 }));
  expect(third.committed).toEqual([]);
});

test("every role follows a higher term, and forgets its vote (all servers 2, §5.1)", () => {
  const higher: readonly Message[] = [
    appendEntries({ term: 9, prevIndex: 0, prevTerm: 0 }),
    heartbeat({ term: 9 }),
    accepted({ term: 9, matchIndex: 0 }),
    rejected({ term: 9, prevIndex: 0, hintIndex: 0, hintTerm: 0 }),
    heartbeatReply({ term: 9, round: 0 }),
    preVoteReply({ term: 9, nextTerm: 2, granted: false }),
    voteReply({ term: 9, granted: false }),
    { kind: "readIndexRequest", term: 9, readId: 1 } as Message,
    { kind: "readIndexReply", term: 9, readId: 1, readIndex: undefined } as Message,
  ];
  const roles = {
    follower: () => new CheckedCore({ term: 2, votedFor: 2 }),
    candidate: () => candidateWith({ term: 1 }),
    leader: () => leaderWith({ term: 1 }),
  };
  for (const [role, create] of Object.entries(roles)) {
    for (const message of higher) {
      const core = create();
      core.receive(3, message);
      const { term, votedFor, role: now } = core.status;
      const what = `${role}, ${message.kind}`;
      expect({ term, votedFor, now }, what).toEqual({
        term: 9,
        votedFor: undefined,
        now: "follower",
      });
    }
  }
});

// ---- Followers

test("a follower that hears nobody for an election timeout stands (followers 2, §5.2)", () => {
  const follower = new CheckedCore({ term: 1 });
  follower.tick(10);
  expect(follower.status.role).toBe("follower");
  follower.tick(10);
  expect(follower.status.role).toBe("preCandidate");
});

test("heartbeats and appends of the leader put it off (followers 2, §5.2)", () => {
  for (const contact of [
    heartbeat({ term: 1 }),
    appendEntries({ term: 1, prevIndex: 0, prevTerm: 0 }),
    appendEntries({ term: 1, prevIndex: 5, prevTerm: 1 }),
  ]) {
    const follower = new CheckedCore({ term: 1 });
    for (let i = 0; i < 5; i++) {
      follower.tick(9);
      follower.receive(2, contact);
    }
    follower.tick(10);
    expect(follower.status.role).toBe("follower");
  }
});

test("a granted vote puts it off, a refused one does not (followers 2, §5.2)", () => {
  const voter = new CheckedCore({ entryTerms: [1] });
  voter.tick(10);
  voter.receive(2, requestVote({ term: 2, lastIndex: 1, lastTerm: 1 }));
  voter.tick(10);
  expect(voter.status.role).toBe("follower");
  const refuser = new CheckedCore({ entryTerms: [1] });
  refuser.tick(10);
  refuser.receive(2, requestVote({ term: 2, lastIndex: 0, lastTerm: 0 }));
  refuser.persistAll();
  refuser.tick(10);
  expect(refuser.status.role).toBe("preCandidate");
});

test("election timeouts are spread over their range, and drawn anew each time (§5.2)", () => {
  const drawn = new Set<number>();
  for (let seed = 1; seed <= 40; seed++) {
    const core = new CheckedCore({ term: 1 }, { seed });
    for (let attempt = 0; attempt < 3; attempt++) {
      let ticks = 1;
      while (!core.tick().transitions.some(({ kind }) => kind === "becamePreCandidate")) ticks++;
      drawn.add(ticks);
    }
  }
  expect([...drawn].toSorted((a, b) => a - b)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
});

// ---- Candidates

test("a candidate raises the term, votes for itself and asks everyone (candidates 1, §5.2)", () => {
  const core = new CheckedCore({ entryTerms: [1, 1] });
  core.campaign();
  const output = core.receive(3, preVoteReply({ term: 1, granted: true }));
  expect(core.status).toMatchObject({ role: "candidate", term: 2, votedFor: 1 });
  expect(output.persist?.hardState).toEqual({ term: 2, votedFor: 1, commitIndex: 0 });
  const message = requestVote({ term: 2, lastIndex: 2, lastTerm: 1 });
  expect(output.sendAfterPersist).toEqual([
    { to: replica(2), message },
    { to: replica(3), message },
  ]);
});

test("votes of a majority make a leader, its own durable one included (candidates 2, §5.2)", () => {
  const candidate = candidateWith({ term: 1 });
  candidate.receive(2, voteReply({ term: 2, granted: true }));
  expect(candidate.status.role).toBe("candidate");
  candidate.persistAll();
  expect(candidate.status.role).toBe("leader");
});

test("one voter's votes count once, refusals and old votes not at all (candidates 2)", () => {
  const voters = [1, 2, 3, 4, 5].map(replica);
  const candidate = candidateWith({ term: 1 }, { voters });
  candidate.persistAll();
  candidate.receive(2, voteReply({ term: 2, granted: true }));
  candidate.receive(2, voteReply({ term: 2, granted: true }));
  candidate.receive(3, voteReply({ term: 2, granted: false }));
  candidate.receive(4, voteReply({ term: 1, granted: true }));
  expect(candidate.status.role).toBe("candidate");
  candidate.receive(5, voteReply({ term: 2, granted: true }));
  expect(candidate.status.role).toBe("leader");
});

test("a candidate that hears a leader of its term follows it (candidates 3, §5.2)", () => {
  const candidate = candidateWith({ term: 1 });
  candidate.receive(3, appendEntries({ term: 2, prevIndex: 0, prevTerm: 0 }));
  expect(candidate.status).toMatchObject({ role: "follower", term: 2, leaderId: 3, votedFor: 1 });
});

test("a candidate that neither wins nor loses stands again (candidates 4, §5.2)", () => {
  const candidate = candidateWith({ term: 1 });
  candidate.persistAll();
  candidate.campaign();
  candidate.receive(2, preVoteReply({ term: 2, granted: true }));
  expect(candidate.status).toMatchObject({ role: "candidate", term: 3 });
});

// ---- Leaders

test("a new leader speaks at once, and again each interval (leaders 1, §5.2)", () => {
  const candidate = candidateWith({ term: 1 });
  candidate.persistAll();
  const elected = candidate.receive(2, voteReply({ term: 2, granted: true }));
  expect(elected.sendNow.map(({ to }) => to)).toEqual([2, 3]);
  expect(elected.sendNow.every(({ message }) => message.kind === "appendEntries")).toBe(true);
  const idle = candidate.tick();
  expect(idle.sendNow.map(({ message }) => message.kind)).toEqual(["heartbeat", "heartbeat"]);
});

test("a command is appended, and is committed once a quorum holds it (leaders 2, §5.3)", () => {
  const leader = readyLeader();
  const proposed = leader.propose("a");
  expect(proposed.proposed).toEqual([{ proposalId: 1, index: 2, term: 1 }]);
  expect(proposed.persist?.entries.map(({ index, kind }) => [index, kind])).toEqual([
    [2, "command"],
  ]);
  expect(leader.persistAll().flatMap(({ committed }) => committed)).toEqual([]);
  const acked = leader.receive(3, accepted({ term: 1, matchIndex: 2 }));
  expect(acked.committed.map(({ index }) => index)).toEqual([2]);
});

test("nextIndex starts after the log, matchIndex at 0 (Figure 2, volatile state on leaders)", () => {
  const leader = leaderWith({ entryTerms: [1, 1] });
  for (const progress of leader.status.progress) {
    expect(progress).toMatchObject({ mode: "probe", matchIndex: 0, nextIndex: 3 });
  }
});

test("a follower that lacks entries is sent them from nextIndex on (leaders 3, §5.3)", () => {
  const leader = readyLeader({ entryTerms: [1] });
  const { sendNow } = leader.propose("a");
  expect(sendNow).toHaveLength(2);
  for (const { message } of sendNow) {
    expect(message).toMatchObject({ kind: "appendEntries", prevIndex: 2, prevTerm: 2 });
  }
});

test("success moves matchIndex and nextIndex (leaders 3a, §5.3)", () => {
  const leader = leaderWith({ entryTerms: [1] });
  leader.receive(2, accepted({ term: 2, matchIndex: 2 }));
  expect(leader.status.progress[0]).toMatchObject({ matchIndex: 2, nextIndex: 3 });
});

test("a mismatch lowers nextIndex and tries again (leaders 3b, §5.3)", () => {
  const leader = leaderWith({ entryTerms: [1, 1, 2] });
  const output = leader.receive(2, rejected({ term: 3, prevIndex: 3, hintIndex: 2, hintTerm: 1 }));
  expect(leader.status.progress[0]).toMatchObject({ matchIndex: 0, nextIndex: 3 });
  const [append] = output.sendNow;
  expect(append?.message).toMatchObject({ prevIndex: 2, prevTerm: 1 });
});

test("a majority's matchIndex commits entries of the own term (leaders 4, §5.3)", () => {
  const voters = [1, 2, 3, 4, 5].map(replica);
  const leader = readyLeader({}, { voters });
  leader.propose("a");
  leader.propose("b");
  leader.persistAll();
  leader.receive(2, accepted({ term: 1, matchIndex: 2 }));
  expect(leader.status.commitIndex).toBe(1);
  leader.receive(3, accepted({ term: 1, matchIndex: 3 }));
  expect(leader.status.commitIndex).toBe(2);
  leader.receive(4, accepted({ term: 1, matchIndex: 3 }));
  expect(leader.status.commitIndex).toBe(3);
});

test("a leader never commits an entry of an earlier term by counting (leaders 4, §5.4.2)", () => {
  const leader = leaderWith({ entryTerms: [1, 1] });
  leader.receive(2, accepted({ term: 2, matchIndex: 2 }));
  leader.receive(3, accepted({ term: 2, matchIndex: 2 }));
  expect(leader.status.commitIndex).toBe(0);
  const output = leader.receive(2, accepted({ term: 2, matchIndex: 3 }));
  expect(output.committed.map(({ index }) => index)).toEqual([1, 2, 3]);
});
