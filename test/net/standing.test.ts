import { expect, test } from "vitest";
import type { GroupId, LogIndex, ServerId, Term } from "../../src/base/brands.ts";
import { lostSince, type OpenedLog, SeenByGroup } from "../../src/net/standing.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { SeenAcknowledged } from "../../src/wire/peer-forward.ts";
import { envelope } from "../integration/net/support.ts";

function accepted(term: number, matchIndex: number): Message {
  const result = { kind: "accepted", matchIndex: matchIndex as LogIndex } as const;
  return { kind: "appendEntriesReply", term: term as Term, result };
}

function granted(term: number, isGranted = true): Message {
  return { kind: "requestVoteReply", term: term as Term, granted: isGranted };
}

function seen(term: number, index: number, voted = false, bootNonce = "old"): SeenAcknowledged {
  return { group: 1 as GroupId, term: term as Term, index: index as LogIndex, voted, bootNonce };
}

/** What is known after these messages, all of one process. */
function known(...messages: readonly Message[]): readonly SeenAcknowledged[] {
  const tracked = new SeenByGroup();
  for (const message of messages) tracked.note(envelope(message), "old");
  return tracked.all;
}

test("the most that a peer acknowledged is kept, by term first", () => {
  expect(known()).toEqual([]);
  expect(known(accepted(2, 5), accepted(2, 9), accepted(2, 7))).toEqual([seen(2, 9)]);
  expect(known(accepted(2, 9), accepted(3, 4), accepted(2, 20))).toEqual([seen(3, 4)]);
  expect(known(granted(4), accepted(4, 3))).toEqual([seen(4, 3, true)]);
  expect(known(accepted(4, 3), granted(4))).toEqual([seen(4, 3, true)]);
  expect(known(granted(4), accepted(5, 3))).toEqual([seen(5, 3)]);
});

test("what acknowledges nothing shows that its term was durable, and no more", () => {
  const rejected: Message = {
    kind: "appendEntriesReply",
    term: 9 as Term,
    result: {
      kind: "rejected",
      prevIndex: 5 as LogIndex,
      hintIndex: 4 as LogIndex,
      hintTerm: 1 as Term,
    },
  };
  const heartbeatReply: Message = { kind: "heartbeatReply", term: 9 as Term, round: 1 };
  const preVoteReply: Message = {
    kind: "preVoteReply",
    term: 9 as Term,
    nextTerm: 10 as Term,
    granted: true,
  };
  const requestVote: Message = {
    kind: "requestVote",
    term: 9 as Term,
    isTransfer: false,
    lastIndex: 7 as LogIndex,
    lastTerm: 8 as Term,
  };
  for (const message of [rejected, heartbeatReply, preVoteReply, granted(9, false), requestVote]) {
    expect(known(message)).toEqual([seen(9, 0)]);
    expect(known(granted(9), message, accepted(9, 4))).toEqual([seen(9, 4, true)]);
  }
});

test("what was seen names the process that it was seen of", () => {
  const tracked = new SeenByGroup();
  tracked.note(envelope(accepted(2, 9)), "first");
  tracked.note(envelope(accepted(2, 8)), "second");
  expect(tracked.all).toEqual([seen(2, 9, false, "first")]);
  tracked.note(envelope(accepted(2, 10)), "second");
  expect(tracked.all).toEqual([seen(2, 10, false, "second")]);
});

const BY = 3 as ServerId;

function lost(told: SeenAcknowledged, log: Partial<OpenedLog> | undefined): string | undefined {
  const whole = { term: 2 as Term, votedFor: undefined, lastIndex: 9 as LogIndex, ...log };
  const opened = new Map(log === undefined ? [] : [[1 as GroupId, whole]]);
  return lostSince([told], { opened, bootNonce: "mine", by: BY });
}

test.each<[string, SeenAcknowledged, Partial<OpenedLog> | undefined, RegExp | undefined]>([
  ["all that was seen", seen(2, 9), {}, undefined],
  ["a shorter log", seen(2, 10), {}, /index 10 in term 2 in group 1, and its log ended at 9/],
  ["a shorter log in a later term", seen(1, 99), {}, undefined],
  ["an earlier term", seen(3, 0), {}, /its store was at term 2/],
  ["the vote", seen(2, 0, true), { votedFor: BY }, undefined],
  ["no vote", seen(2, 0, true), {}, /and its vote in group 1, and its store had no such vote/],
  ["another's vote", seen(2, 0, true), { votedFor: 1 as ServerId }, /had no such vote/],
  ["no such group", seen(2, 0), undefined, /its store has no such group/],
  ["less than it has acknowledged itself", seen(3, 99, true, "mine"), {}, undefined],
])("a store that was opened with %s is judged rightly (law 30)", (_, told, log, what) => {
  if (what === undefined) expect(lost(told, log)).toBeUndefined();
  else expect(lost(told, log)).toMatch(what);
});
