/** Raft, Figure 2: what the receivers of AppendEntries and RequestVote do. */

import { expect, test } from "vitest";
import {
  accepted,
  appendEntries,
  candidateWith,
  CheckedCore,
  entry,
  rejected,
  replica,
  requestVote,
  voteReply,
} from "./checked-core.ts";

test("term and vote are written before the vote is sent (Figure 2, persistent state)", () => {
  const voter = new CheckedCore({ term: 1 });
  const output = voter.receive(2, requestVote({ term: 2, lastIndex: 0, lastTerm: 0 }));
  expect(output.persist?.hardState).toEqual({ term: 2, votedFor: 2, commitIndex: 0 });
  expect(output.sendNow).toEqual([]);
  expect(output.sendAfterPersist).toEqual([
    { to: replica(2), message: voteReply({ term: 2, granted: true }) },
  ]);
});

test("entries are written before they are acknowledged (Figure 2, persistent state)", () => {
  const follower = new CheckedCore({ term: 1 });
  const entries = [entry(1, 1), entry(1, 2)];
  const append = appendEntries({ term: 1, prevIndex: 0, prevTerm: 0, entries });
  const output = follower.receive(2, append);
  expect(output.persist?.entries).toEqual(entries);
  expect(output.sendNow).toEqual([]);
  expect(output.sendAfterPersist).toEqual([
    { to: replica(2), message: accepted({ term: 1, matchIndex: 2 }) },
  ]);
});

test("an append of an earlier term is refused, and told the term (AppendEntries 1, §5.1)", () => {
  const follower = new CheckedCore({ term: 3 });
  const append = appendEntries({ term: 2, prevIndex: 0, prevTerm: 0, entries: [entry(2, 1)] });
  const output = follower.receive(2, append);
  expect(output.persist).toBeUndefined();
  expect(output.sendNow).toEqual([
    {
      to: replica(2),
      message: rejected({ term: 3, prevIndex: 0, hintIndex: 0, hintTerm: 0 }),
    },
  ]);
  expect(follower.status.leaderId).toBeUndefined();
});

test("an append whose predecessor is missing is refused (AppendEntries 2, §5.3)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1] });
  const append = appendEntries({ term: 1, prevIndex: 4, prevTerm: 1, entries: [entry(1, 5)] });
  const output = follower.receive(2, append);
  expect(output.sendNow).toEqual([
    { to: replica(2), message: rejected({ term: 1, prevIndex: 4, hintIndex: 2, hintTerm: 1 }) },
  ]);
  expect(follower.entryTerms).toEqual([1, 1]);
});

test("an append whose predecessor has another term is refused (AppendEntries 2, §5.3)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 2, 2] });
  const append = appendEntries({ term: 3, prevIndex: 3, prevTerm: 1, entries: [entry(3, 4)] });
  const output = follower.receive(2, append);
  expect(output.sendAfterPersist).toEqual([
    { to: replica(2), message: rejected({ term: 3, prevIndex: 3, hintIndex: 1, hintTerm: 1 }) },
  ]);
  expect(follower.entryTerms).toEqual([1, 2, 2]);
});

test("a conflicting entry is deleted with all that follow it (AppendEntries 3, §5.3)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1, 2, 2] });
  const entries = [entry(1, 2), entry(3, 3)];
  const append = appendEntries({ term: 3, prevIndex: 1, prevTerm: 1, entries });
  const output = follower.receive(2, append);
  expect(output.persist?.truncateFrom).toBe(3);
  expect(output.persist?.entries).toEqual([entry(3, 3)]);
  expect(follower.entryTerms).toEqual([1, 1, 3]);
});

test("entries already there are kept, with what follows them (AppendEntries 3 and 4)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1, 1] });
  const append = appendEntries({ term: 1, prevIndex: 0, prevTerm: 0, entries: [entry(1, 1)] });
  const output = follower.receive(2, append);
  expect(output.persist).toBeUndefined();
  expect(output.sendNow).toEqual([
    { to: replica(2), message: accepted({ term: 1, matchIndex: 1 }) },
  ]);
  expect(follower.entryTerms).toEqual([1, 1, 1]);
});

test("only new entries are appended (AppendEntries 4)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1] });
  const entries = [entry(1, 2), entry(1, 3)];
  const append = appendEntries({ term: 1, prevIndex: 1, prevTerm: 1, entries });
  const output = follower.receive(2, append);
  expect(output.persist?.truncateFrom).toBeUndefined();
  expect(output.persist?.entries).toEqual([entry(1, 3)]);
});

test("the commit index goes to the leader's, or to the last new entry (AppendEntries 5)", () => {
  const append = { term: 1, prevIndex: 0, prevTerm: 0, entries: [entry(1, 1), entry(1, 2)] };
  const within = new CheckedCore({ term: 1 });
  within.receive(2, appendEntries({ ...append, commitIndex: 1 }));
  expect(within.status.commitIndex).toBe(1);
  const beyond = new CheckedCore({ term: 1 });
  beyond.receive(2, appendEntries({ ...append, commitIndex: 7 }));
  expect(beyond.status.commitIndex).toBe(2);
});

test("the last new entry is the message's, not the log's (AppendEntries 5)", () => {
  const follower = new CheckedCore({ entryTerms: [1, 1, 1, 1] });
  const entries = [entry(1, 1), entry(1, 2)];
  follower.receive(
    2,
    appendEntries({ term: 2, prevIndex: 0, prevTerm: 0, commitIndex: 4, entries }),
  );
  expect(follower.status.commitIndex).toBe(2);
});

test("a request of an earlier term gets no vote, but the term (RequestVote 1, §5.1)", () => {
  const voter = new CheckedCore({ term: 3 });
  const output = voter.receive(2, requestVote({ term: 2, lastIndex: 9, lastTerm: 2 }));
  expect(output.persist).toBeUndefined();
  expect(output.sendNow).toEqual([
    { to: replica(2), message: voteReply({ term: 3, granted: false }) },
  ]);
});

test("a second candidate of a term gets no vote (RequestVote 2, §5.2)", () => {
  const voter = new CheckedCore({ term: 2, votedFor: 3 });
  const output = voter.receive(2, requestVote({ term: 2, lastIndex: 0, lastTerm: 0 }));
  expect(output.sendNow).toEqual([
    { to: replica(2), message: voteReply({ term: 2, granted: false }) },
  ]);
  expect(voter.status.votedFor).toBe(3);
});

test("the candidate voted for is told again (RequestVote 2, §5.2)", () => {
  const voter = new CheckedCore({ term: 2, votedFor: 3 });
  const output = voter.receive(3, requestVote({ term: 2, lastIndex: 0, lastTerm: 0 }));
  expect(output.persist).toBeUndefined();
  expect(output.sendAfterPersist).toEqual([
    { to: replica(3), message: voteReply({ term: 2, granted: true }) },
  ]);
});

test("a shorter log is refused the vote, yet its higher term is adopted (§5.1, §5.4.1)", () => {
  const voter = new CheckedCore({ entryTerms: [1, 2, 2] });
  const output = voter.receive(2, requestVote({ term: 3, lastIndex: 2, lastTerm: 2 }));
  expect(output.persist?.hardState).toEqual({ term: 3, votedFor: undefined, commitIndex: 0 });
  expect(output.sendAfterPersist).toEqual([
    { to: replica(2), message: voteReply({ term: 3, granted: false }) },
  ]);
});

test("logs are compared by last term, then by length (§5.4.1)", () => {
  const cases = [
    { lastTerm: 1, lastIndex: 9, granted: false },
    { lastTerm: 2, lastIndex: 2, granted: false },
    { lastTerm: 2, lastIndex: 3, granted: true },
    { lastTerm: 2, lastIndex: 4, granted: true },
    { lastTerm: 3, lastIndex: 1, granted: true },
  ];
  for (const { lastTerm, lastIndex, granted } of cases) {
    const voter = new CheckedCore({ entryTerms: [1, 2, 2] });
    const output = voter.receive(2, requestVote({ term: 4, lastIndex, lastTerm }));
    const [reply] = output.sendAfterPersist;
    expect(reply?.message, `${lastTerm}/${lastIndex}`).toEqual(voteReply({ term: 4, granted }));
  }
});

test("a candidate refuses its vote to others of its term (RequestVote 2, §5.2)", () => {
  const candidate = candidateWith({ term: 1 });
  candidate.persistAll();
  const output = candidate.receive(2, requestVote({ term: 2, lastIndex: 0, lastTerm: 0 }));
  expect(output.sendNow).toEqual([
    { to: replica(2), message: voteReply({ term: 2, granted: false }) },
  ]);
});
