/** Arbitrary raft messages, all kinds, with numbers up to the largest safe integer. */

import fc from "fast-check";
import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../../src/base/brands.ts";
import type { Envelope, Message } from "../../src/raft/messages.ts";
import type { Entry } from "../../src/raft/types.ts";

const integer = (min = 0, max = Number.MAX_SAFE_INTEGER): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min, max: Math.min(max, min + 1_000) }),
    fc.maxSafeNat().map((value) => min + (value % (max - min))),
    fc.constantFrom(min, max),
  );

const index = integer() as fc.Arbitrary<LogIndex>;
const term = integer() as fc.Arbitrary<Term>;

/** Entries that a leader may send: contiguous, terms and times ascending. */
const appendEntries: fc.Arbitrary<Message> = fc
  .record({
    prevIndex: integer(0, Number.MAX_SAFE_INTEGER - 100),
    prevTerm: integer(1, 2 ** 40),
    commitIndex: index,
    entries: fc.array(
      fc.record({
        termStep: integer(0, 2 ** 40),
        timeStep: integer(0, 2 ** 45),
        payload: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
      }),
      { maxLength: 20 },
    ),
    termStep: integer(0, 2 ** 40),
  })
  .map(({ prevIndex, prevTerm, commitIndex, entries, termStep }) => {
    let entryTerm = prevTerm;
    let timeMs = 0;
    const built = entries.map((entry, i): Entry => {
      entryTerm += entry.termStep;
      timeMs += entry.timeStep;
      return {
        index: (prevIndex + 1 + i) as LogIndex,
        term: entryTerm as Term,
        kind: entry.payload === undefined ? "noop" : "command",
        timeMs: timeMs as LogTimeMs,
        payload: entry.payload ?? new Uint8Array(0),
      };
    });
    return {
      kind: "appendEntries",
      term: (entryTerm + termStep) as Term,
      prevIndex: prevIndex as LogIndex,
      prevTerm: prevTerm as Term,
      commitIndex,
      entries: built,
    };
  });

const kind = <K extends Message["kind"]>(value: K): fc.Arbitrary<K> => fc.constant(value);

const appendResult = fc.oneof(
  fc.record({ kind: fc.constant("accepted" as const), matchIndex: index }),
  fc.record({
    kind: fc.constant("rejected" as const),
    prevIndex: index,
    hintIndex: index,
    hintTerm: term,
  }),
);

const granted = fc.boolean();

/** One arbitrary per kind: a new kind of message does not compile until it is here. */
export const MESSAGES: { readonly [K in Message["kind"]]: fc.Arbitrary<Message> } = {
  preVote: fc.record({
    kind: kind("preVote"),
    term,
    nextTerm: term,
    lastIndex: index,
    lastTerm: term,
  }),
  preVoteReply: fc.record({ kind: kind("preVoteReply"), term, nextTerm: term, granted }),
  requestVote: fc.record({
    kind: kind("requestVote"),
    term,
    isTransfer: fc.boolean(),
    lastIndex: index,
    lastTerm: term,
  }),
  requestVoteReply: fc.record({ kind: kind("requestVoteReply"), term, granted }),
  appendEntries,
  appendEntriesReply: fc.record({
    kind: kind("appendEntriesReply"),
    term,
    result: appendResult,
  }),
  heartbeat: fc.record({ kind: kind("heartbeat"), term, commitIndex: index, round: integer() }),
  heartbeatReply: fc.record({ kind: kind("heartbeatReply"), term, round: integer() }),
  readIndexRequest: fc.record({ kind: kind("readIndexRequest"), term, readId: integer() }),
  readIndexReply: fc.record({
    kind: kind("readIndexReply"),
    term,
    readId: integer(),
    readIndex: fc.option(index, { nil: undefined }),
  }),
  timeoutNow: fc.record({ kind: kind("timeoutNow"), term }),
  snapshotOffer: fc
    .tuple(integer(1), integer(1), integer(1), integer())
    .map(([a, b, lastIndex, lastTimeMs]) => ({
      kind: "snapshotOffer",
      term: Math.max(a, b) as Term,
      position: {
        index: lastIndex as LogIndex,
        term: Math.min(a, b) as Term,
        timeMs: lastTimeMs as LogTimeMs,
      },
    })),
};

export function envelopeOf(message: fc.Arbitrary<Message>): fc.Arbitrary<Envelope> {
  return fc.record({
    group: integer() as fc.Arbitrary<GroupId>,
    from: integer(1) as fc.Arbitrary<ReplicaId>,
    to: integer(1) as fc.Arbitrary<ReplicaId>,
    message,
  });
}
