// The checker of stores can fail: it is shown servers whose stores hold less than they promised.
import { expect, test } from "vitest";
import type { GroupId, LogIndex, ReplicaId, ServerId, Term } from "../../../src/base/brands.ts";
import type { Envelope } from "../../../src/raft/messages.ts";
import type { LoadedReplica } from "../../../src/replica/ports.ts";
import { broken } from "./broken.ts";
import { StoresChecker } from "./p09-stores.ts";

const [ONE, TWO, THREE] = [1 as ServerId, 2 as ServerId, 3 as ServerId];
const GROUP = 1 as GroupId;

function envelope(message: object, to = 2): Envelope {
  const [from, target] = [1 as ReplicaId, to as ReplicaId];
  return { group: GROUP, from, to: target, message: message as Envelope["message"] };
}

function acknowledged(term: number, matchIndex: number): object {
  return { kind: "appendEntriesReply", term, result: { kind: "accepted", matchIndex } };
}

/** An opened store with a log up to an index. */
function opened(term: number, lastIndex: number, votedFor?: number): LoadedReplica[] {
  const hardState = {
    term: term as Term,
    votedFor: votedFor as ReplicaId | undefined,
    commitIndex: 0 as LogIndex,
  };
  const base = { index: lastIndex as LogIndex, term: term as Term };
  return [{ group: GROUP, hardState, base, entries: [] } as unknown as LoadedReplica];
}

test("9: a store that lost a term, a vote or what was acknowledged, or counted", () => {
  const after = (...messages: readonly object[]): StoresChecker => {
    const stores = new StoresChecker();
    for (const message of messages) stores.onSend(ONE, envelope(message));
    return stores;
  };
  expect(after({ kind: "heartbeat", term: 3 }).onOpened(ONE, opened(3, 0))).toBeUndefined();
  expect(after({ kind: "heartbeat", term: 3 }).onOpened(ONE, opened(2, 9))?.isRecorded).toBe(true);
  const granted = { kind: "requestVoteReply", term: 2, granted: true };
  expect(after(granted).onOpened(ONE, opened(2, 0, 2))).toBeUndefined();
  expect(after(granted).onOpened(ONE, opened(2, 0, 3))?.isRecorded).toBe(true);
  expect(after(granted).onOpened(ONE, opened(3, 0, 3))).toBeUndefined();
  const asked = { kind: "requestVote", term: 2 };
  expect(after(asked).onOpened(ONE, opened(2, 0, 1))).toBeUndefined();
  expect(after(asked).onOpened(ONE, opened(2, 0, 2))?.isRecorded).toBe(true);
  const acks = [acknowledged(2, 5), acknowledged(2, 3)];
  expect(after(...acks).onOpened(ONE, opened(2, 5))).toBeUndefined();
  expect(after(...acks).onOpened(ONE, opened(2, 4))?.isRecorded).toBe(false);
  const leader = after({ kind: "heartbeat", term: 2 });
  leader.onCounted(ONE, GROUP, 2, 7);
  expect(leader.onOpened(ONE, opened(2, 6))?.isRecorded).toBe(false);
});

test("9: a word from a server whose store has fallen back, or can't be used", () => {
  const stores = new StoresChecker();
  stores.onSend(ONE, envelope(acknowledged(2, 5)));
  stores.onOpened(ONE, opened(2, 4));
  expect(stores.isFallen(ONE)).toBe(true);
  const word = envelope({ kind: "heartbeatReply", term: 2, round: 1 });
  expect(broken(() => stores.onSend(ONE, word))).toBe(9);
  stores.onSend(TWO, word);
  stores.fall(TWO, "its store is gone");
  expect(broken(() => stores.onSend(TWO, word))).toBe(9);
});

test("9: those are witnesses whose present processes have heard more than there is", () => {
  const stores = new StoresChecker();
  stores.onHeard(TWO, ONE, envelope(acknowledged(2, 5), 2));
  stores.onHeard(THREE, ONE, envelope({ kind: "heartbeat", term: 2 }, 3));
  expect(stores.witnesses(ONE, opened(2, 5))).toEqual([]);
  expect(stores.witnesses(ONE, opened(2, 4))).toEqual([TWO]);
  expect(stores.witnesses(ONE, opened(1, 5))).toEqual([TWO, THREE]);
  stores.onEnd(TWO);
  expect(stores.witnesses(ONE, opened(1, 5))).toEqual([THREE]);
});
