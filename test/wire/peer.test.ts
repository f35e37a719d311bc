import fc from "fast-check";
import { expect, test } from "vitest";
import type { Envelope, Message } from "../../src/raft/messages.ts";
import { PEER_SERVICE } from "../../src/net/peer-channel.ts";
import type { PeerFrame } from "../../src/wire/generated/cadastre/peer/v1/PeerFrame.ts";
import type { RaftEnvelope } from "../../src/wire/generated/cadastre/peer/v1/RaftEnvelope.ts";
import { envelopeBytes, envelopeToProto, protoToEnvelope } from "../../src/wire/peer.ts";
import { envelopeOf, MESSAGES } from "./peer-arbitraries.ts";

const { requestSerialize, requestDeserialize } = PEER_SERVICE.Exchange;

/** Through the bytes of the wire, as a receiver sees it. */
function received(envelope: RaftEnvelope): ReturnType<typeof protoToEnvelope> {
  const frame: PeerFrame = { batch: { envelopes: [envelope] } };
  const [proto] = requestDeserialize(requestSerialize(frame)).batch?.envelopes ?? [];
  if (proto === undefined) throw new Error("the frame lost its envelope");
  return protoToEnvelope(proto);
}

test.each(Object.entries(MESSAGES))("a %s arrives as it was sent", (_, message) => {
  fc.assert(
    fc.property(envelopeOf(message), (envelope) => {
      expect(received(envelopeToProto(envelope))).toEqual({ ok: true, value: envelope });
    }),
  );
});

test("the estimated size of a message is never below its encoded size by much", () => {
  fc.assert(
    fc.property(envelopeOf(fc.oneof(...Object.values(MESSAGES))), (envelope) => {
      const frame = { batch: { envelopes: [envelopeToProto(envelope)] } };
      expect(requestSerialize(frame).length).toBeLessThanOrEqual(envelopeBytes(envelope));
    }),
  );
});

const VALID: RaftEnvelope = { group: 0, fromReplica: 1, toReplica: 2, term: 5, heartbeat: {} };
const TOO_LARGE = "9007199254740993";

/** What is changed in a valid envelope, and the field that must be named. */
const REFUSED: readonly [RaftEnvelope, string][] = [
  [{ group: TOO_LARGE }, "group"],
  [{ fromReplica: 0 }, "fromReplica"],
  [{ toReplica: 0 }, "toReplica"],
  [{ toReplica: "18446744073709551615" }, "toReplica"],
  [{ term: TOO_LARGE }, "term"],
  [{ heartbeat: null }, "message"],
  [{ heartbeat: { commitIndex: TOO_LARGE } }, "heartbeat.commitIndex"],
  [{ heartbeat: { round: TOO_LARGE } }, "heartbeat.round"],
  [{ heartbeatReply: { round: TOO_LARGE } }, "heartbeatReply.round"],
  [{ preVote: { nextTerm: TOO_LARGE } }, "preVote.nextTerm"],
  [{ preVote: { lastIndex: TOO_LARGE } }, "preVote.lastIndex"],
  [{ preVote: { lastTerm: TOO_LARGE } }, "preVote.lastTerm"],
  [{ preVoteReply: { nextTerm: TOO_LARGE } }, "preVoteReply.nextTerm"],
  [{ requestVote: { lastIndex: TOO_LARGE } }, "requestVote.lastIndex"],
  [{ requestVote: { lastTerm: TOO_LARGE } }, "requestVote.lastTerm"],
  [{ appendEntries: { prevIndex: TOO_LARGE } }, "appendEntries.prevIndex"],
  [{ appendEntries: { prevTerm: TOO_LARGE } }, "appendEntries.prevTerm"],
  [{ appendEntries: { commitIndex: TOO_LARGE } }, "appendEntries.commitIndex"],
  [{ appendEntries: { entries: new Uint8Array(5) } }, "appendEntries.entries[0].kind"],
  [{ appendEntriesReply: {} }, "appendEntriesReply.result"],
  [
    { appendEntriesReply: { accepted: { matchIndex: TOO_LARGE } } },
    "appendEntriesReply.accepted.matchIndex",
  ],
  [
    { appendEntriesReply: { rejected: { hintTerm: TOO_LARGE } } },
    "appendEntriesReply.rejected.hintTerm",
  ],
  [{ readIndexRequest: { readId: TOO_LARGE } }, "readIndexRequest.readId"],
  [{ readIndexReply: { readId: 1 } }, "readIndexReply.answer"],
  [{ readIndexReply: { readId: 1, readIndex: TOO_LARGE } }, "readIndexReply.readIndex"],
];

test.each(REFUSED)("an envelope with %j is refused and names the field %s", (change, field) => {
  expect(received(VALID)).toMatchObject({ ok: true });
  // A oneof holds one member: another message replaces the heartbeat.
  const isMessage = Object.values(change).some((value) => typeof value === "object");
  const base = isMessage ? { ...VALID, heartbeat: null } : VALID;
  expect(received({ ...base, ...change })).toMatchObject({ ok: false, error: { field } });
});

test("a message of an unknown kind is refused, not taken for another", () => {
  // Field 99 of RaftEnvelope, an empty message.
  const known = requestSerialize({ batch: { envelopes: [{ ...VALID, heartbeat: null }] } });
  const envelope = known.subarray(4);
  const unknown = Buffer.concat([envelope, Buffer.from([0x9a, 0x06, 0x00])]);
  const batch = Buffer.concat([Buffer.from([0x0a, unknown.length]), unknown]);
  const frame = Buffer.concat([Buffer.from([0x12, batch.length]), batch]);
  const [proto] = requestDeserialize(frame).batch?.envelopes ?? [];
  expect(proto).toMatchObject({ toReplica: "2", term: "5" });
  expect(proto && protoToEnvelope(proto)).toMatchObject({ ok: false, error: { field: "message" } });
});

test("payloads of a received append do not hold on to the received frame", () => {
  const message = fc.sample(MESSAGES.appendEntries, { numRuns: 200, seed: 1 }).find(hasPayload);
  const sent = { group: 1, from: 1, to: 2, message } as unknown as Envelope;
  const result = received(envelopeToProto(sent));
  if (!result.ok || result.value.message.kind !== "appendEntries") throw new Error("not received");
  const payloads = result.value.message.entries.map((entry) => entry.payload);
  const bytes = payloads.reduce((sum, payload) => sum + payload.length, 0);
  for (const payload of payloads.filter(({ length }) => length > 0)) {
    expect(payload.buffer.byteLength).toBe(bytes + 21 * payloads.length);
  }
});

function hasPayload(message: Message): boolean {
  return message.kind === "appendEntries" && message.entries.some((e) => e.payload.length > 0);
}
