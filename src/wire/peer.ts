/**
 * Raft messages between servers: from the core's types to cadastre.peer.v1 and back. Both
 * directions are total; the way in checks every bound and names the field that breaks one.
 *
 * Whether the receiver is the right replica is not checked here: its host does that, by the ids of
 * the envelope. Forwarded commands are in peer-forward.ts, entries in packed-entries.ts.
 */

import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../base/brands.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type {
  AppendEntries,
  AppendEntriesReply,
  Envelope,
  Message,
  SnapshotOffer,
} from "../raft/messages.ts";
import { Fields, type InvalidArgument } from "./fields.ts";
import type { AppendEntries__Output } from "./generated/cadastre/peer/v1/AppendEntries.ts";
import type { AppendEntriesReply__Output } from "./generated/cadastre/peer/v1/AppendEntriesReply.ts";
import type {
  RaftEnvelope,
  RaftEnvelope__Output,
} from "./generated/cadastre/peer/v1/RaftEnvelope.ts";
import type { ReadIndexReply__Output } from "./generated/cadastre/peer/v1/ReadIndexReply.ts";
import type { SnapshotOffer__Output } from "./generated/cadastre/peer/v1/SnapshotOffer.ts";
import { packEntries, packedEntriesBytes, unpackEntries } from "./packed-entries.ts";

/**
 * What two servers must agree on before they talk. 1: the first form.
 */
export const PEER_PROTOCOL_VERSION = 1;

/** At least the encoded size of a message without entries. */
const ENVELOPE_BYTES_MAX = 96;

/** About how many bytes an envelope takes in a frame; never fewer than its entries take. */
export function envelopeBytes(envelope: Envelope): number {
  const { message } = envelope;
  if (message.kind !== "appendEntries") return ENVELOPE_BYTES_MAX;
  return ENVELOPE_BYTES_MAX + packedEntriesBytes(message.entries);
}

export function envelopeToProto(envelope: Envelope): RaftEnvelope {
  return {
    group: envelope.group,
    fromReplica: envelope.from,
    toReplica: envelope.to,
    term: envelope.message.term,
    ...messageToProto(envelope.message),
  };
}

function messageToProto(message: Message): RaftEnvelope {
  switch (message.kind) {
    case "preVote": {
      const { nextTerm, lastIndex, lastTerm } = message;
      return { preVote: { nextTerm, lastIndex, lastTerm } };
    }
    case "preVoteReply":
      return { preVoteReply: { nextTerm: message.nextTerm, granted: message.granted } };
    case "requestVote":
      return {
        requestVote: {
          lastIndex: message.lastIndex,
          lastTerm: message.lastTerm,
          isTransfer: message.isTransfer,
        },
      };
    case "requestVoteReply":
      return { requestVoteReply: { granted: message.granted } };
    case "appendEntries": {
      const { prevIndex, prevTerm, commitIndex, entries } = message;
      return {
        appendEntries: { prevIndex, prevTerm, commitIndex, entries: packEntries(entries) },
      };
    }
    case "appendEntriesReply":
      return { appendEntriesReply: appendReplyToProto(message.result) };
    case "heartbeat":
      return { heartbeat: { commitIndex: message.commitIndex, round: message.round } };
    case "heartbeatReply":
      return { heartbeatReply: { round: message.round } };
    case "readIndexRequest":
      return { readIndexRequest: { readId: message.readId } };
    case "readIndexReply": {
      const { readId, readIndex } = message;
      if (readIndex === undefined) return { readIndexReply: { readId, refused: {} } };
      return { readIndexReply: { readId, readIndex } };
    }
    case "snapshotOffer": {
      const { index, term, timeMs } = message.position;
      return { snapshotOffer: { lastIndex: index, lastTerm: term, lastTimeMs: timeMs } };
    }
    case "timeoutNow":
      return { timeoutNow: {} };
  }
}

function appendReplyToProto(
  result: AppendEntriesReply["result"],
): NonNullable<RaftEnvelope["appendEntriesReply"]> {
  if (result.kind === "accepted") return { accepted: { matchIndex: result.matchIndex } };
  const { prevIndex, hintIndex, hintTerm } = result;
  return { rejected: { prevIndex, hintIndex, hintTerm } };
}

export function protoToEnvelope(proto: RaftEnvelope__Output): Result<Envelope, InvalidArgument> {
  const fields = new Fields();
  const group = fields.integer(proto.group, "group") as GroupId;
  const from = fields.integer(proto.fromReplica, "fromReplica", 1) as ReplicaId;
  const to = fields.integer(proto.toReplica, "toReplica", 1) as ReplicaId;
  const term = fields.integer(proto.term, "term") as Term;
  const message = protoToMessage(proto, term, fields);
  if (message === undefined) fields.refuse("message", "is missing or of an unknown kind");
  if (fields.error !== undefined || message === undefined) {
    return failed(fields.error as InvalidArgument);
  }
  return ok({ group, from, to, message });
}

/** undefined: no known message is there. Other problems are in fields. */
function protoToMessage(
  proto: RaftEnvelope__Output,
  term: Term,
  fields: Fields,
): Message | undefined {
  const index = (text: string, field: string): LogIndex => fields.integer(text, field) as LogIndex;
  if (proto.appendEntries) return protoToAppendEntries(proto.appendEntries, term, fields);
  if (proto.appendEntriesReply) {
    return protoToAppendReply(proto.appendEntriesReply, term, fields);
  }
  if (proto.heartbeat) {
    const commitIndex = index(proto.heartbeat.commitIndex, "heartbeat.commitIndex");
    const round = fields.integer(proto.heartbeat.round, "heartbeat.round");
    return { kind: "heartbeat", term, commitIndex, round };
  }
  if (proto.heartbeatReply) {
    const round = fields.integer(proto.heartbeatReply.round, "heartbeatReply.round");
    return { kind: "heartbeatReply", term, round };
  }
  if (proto.readIndexRequest) {
    const readId = fields.integer(proto.readIndexRequest.readId, "readIndexRequest.readId");
    return { kind: "readIndexRequest", term, readId };
  }
  if (proto.readIndexReply) return protoToReadReply(proto.readIndexReply, term, fields);
  if (proto.snapshotOffer) return protoToSnapshotOffer(proto.snapshotOffer, term, fields);
  if (proto.timeoutNow) return { kind: "timeoutNow", term };
  return protoToElection(proto, term, fields);
}

function protoToElection(
  proto: RaftEnvelope__Output,
  term: Term,
  fields: Fields,
): Message | undefined {
  const number = <T>(text: string, field: string): T => fields.integer(text, field) as T;
  if (proto.preVote) {
    const nextTerm = number<Term>(proto.preVote.nextTerm, "preVote.nextTerm");
    const lastIndex = number<LogIndex>(proto.preVote.lastIndex, "preVote.lastIndex");
    const lastTerm = number<Term>(proto.preVote.lastTerm, "preVote.lastTerm");
    return { kind: "preVote", term, nextTerm, lastIndex, lastTerm };
  }
  if (proto.preVoteReply) {
    const nextTerm = number<Term>(proto.preVoteReply.nextTerm, "preVoteReply.nextTerm");
    return { kind: "preVoteReply", term, nextTerm, granted: proto.preVoteReply.granted };
  }
  if (proto.requestVote) {
    const lastIndex = number<LogIndex>(proto.requestVote.lastIndex, "requestVote.lastIndex");
    const lastTerm = number<Term>(proto.requestVote.lastTerm, "requestVote.lastTerm");
    const { isTransfer } = proto.requestVote;
    return { kind: "requestVote", term, isTransfer, lastIndex, lastTerm };
  }
  if (proto.requestVoteReply) {
    return { kind: "requestVoteReply", term, granted: proto.requestVoteReply.granted };
  }
  return undefined;
}

function protoToSnapshotOffer(
  proto: SnapshotOffer__Output,
  term: Term,
  fields: Fields,
): SnapshotOffer {
  const position = {
    index: fields.integer(proto.lastIndex, "snapshotOffer.lastIndex", 1) as LogIndex,
    term: fields.integer(proto.lastTerm, "snapshotOffer.lastTerm", 1) as Term,
    timeMs: fields.integer(proto.lastTimeMs, "snapshotOffer.lastTimeMs") as LogTimeMs,
  };
  if (position.term > term) fields.refuse("snapshotOffer.lastTerm", "is above the sender's term");
  return { kind: "snapshotOffer", term, position };
}

function protoToAppendEntries(
  proto: AppendEntries__Output,
  term: Term,
  fields: Fields,
): AppendEntries {
  const prevIndex = fields.integer(proto.prevIndex, "appendEntries.prevIndex") as LogIndex;
  const prevTerm = fields.integer(proto.prevTerm, "appendEntries.prevTerm") as Term;
  const commitIndex = fields.integer(proto.commitIndex, "appendEntries.commitIndex") as LogIndex;
  const entries = unpackEntries(proto.entries, { prevIndex, prevTerm, term }, fields);
  return { kind: "appendEntries", term, prevIndex, prevTerm, commitIndex, entries };
}

function protoToAppendReply(
  proto: AppendEntriesReply__Output,
  term: Term,
  fields: Fields,
): AppendEntriesReply | undefined {
  const number = <T>(text: string, field: string): T =>
    fields.integer(text, `appendEntriesReply.${field}`) as T;
  if (proto.accepted) {
    const matchIndex = number<LogIndex>(proto.accepted.matchIndex, "accepted.matchIndex");
    return { kind: "appendEntriesReply", term, result: { kind: "accepted", matchIndex } };
  }
  if (proto.rejected) {
    const prevIndex = number<LogIndex>(proto.rejected.prevIndex, "rejected.prevIndex");
    const hintIndex = number<LogIndex>(proto.rejected.hintIndex, "rejected.hintIndex");
    const hintTerm = number<Term>(proto.rejected.hintTerm, "rejected.hintTerm");
    const result = { kind: "rejected", prevIndex, hintIndex, hintTerm } as const;
    return { kind: "appendEntriesReply", term, result };
  }
  fields.refuse("appendEntriesReply.result", "is missing");
  return undefined;
}

function protoToReadReply(
  proto: ReadIndexReply__Output,
  term: Term,
  fields: Fields,
): Message | undefined {
  const readId = fields.integer(proto.readId, "readIndexReply.readId");
  if (proto.answer === "refused") {
    return { kind: "readIndexReply", term, readId, readIndex: undefined };
  }
  if (proto.answer === "readIndex" && proto.readIndex !== undefined) {
    const readIndex = fields.integer(proto.readIndex, "readIndexReply.readIndex") as LogIndex;
    return { kind: "readIndexReply", term, readId, readIndex };
  }
  fields.refuse("readIndexReply.answer", "is missing");
  return undefined;
}
