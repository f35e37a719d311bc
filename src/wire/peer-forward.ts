/**
 * Forwarded commands and the Hello of peer streams: to cadastre.peer.v1 and back, total in both
 * directions. Who may talk to whom is decided in net/handshake.ts, on the values made here.
 */

import type { GroupId, LogIndex, ServerId, Term } from "../base/brands.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { ForwardAnswer, ForwardCall, ForwardFailure } from "../replica/ports.ts";
import { Fields, type InvalidArgument } from "./fields.ts";
import type {
  ForwardReply,
  ForwardReply__Output,
} from "./generated/cadastre/peer/v1/ForwardReply.ts";
import type {
  ForwardRequest,
  ForwardRequest__Output,
} from "./generated/cadastre/peer/v1/ForwardRequest.ts";
import type { Hello as ProtoHello, Hello__Output } from "./generated/cadastre/peer/v1/Hello.ts";
import { ENTRY_PAYLOAD_BYTES_MAX } from "./packed-entries.ts";

/** Timers wrap above this. */
const TIMEOUT_MS_MAX: number = 2 ** 31 - 1;
/** Far more groups than a server has. */
const ACKNOWLEDGED_MAX = 10_000;
/** A machine's encoded result. */
const RESULT_BYTES_MAX: number = 1024 * 1024;

/** Who speaks to whom, on a stream or in a forwarded call. */
export interface PeerIds {
  readonly protocolVersion: number;
  readonly clusterId: string;
  readonly from: ServerId;
  readonly to: ServerId;
}

/** The first frame of each direction of a stream. */
export interface Hello extends PeerIds {
  /** Random per process: tells a restarted peer from a reconnected one. */
  readonly bootNonce: string;
  /** Counts the streams that the dialling process opened to this peer. */
  readonly attempt: number;
  /** Of the sender's store: drawn when its data directory was made, and gone with it. */
  readonly storeUuid: string;
  /** What the sender has seen the receiver acknowledge, at most one per group. */
  readonly acknowledged: readonly SeenAcknowledged[];
}

/** The most that a replica was seen to acknowledge: it held and promised this, durably. */
export interface SeenAcknowledged {
  readonly group: GroupId;
  readonly term: Term;
  /** The largest in that term; 0 for none. */
  readonly index: LogIndex;
  /** Whether it granted its vote of that term to the one who saw it. */
  readonly voted: boolean;
  /** Of the process that acknowledged it. */
  readonly bootNonce: string;
}

export function helloToProto(hello: Hello): ProtoHello {
  const { from, to, acknowledged, ...rest } = hello;
  return { ...rest, fromServer: from, toServer: to, acknowledged: [...acknowledged] };
}

export function protoToHello(proto: Hello__Output): Result<Hello, InvalidArgument> {
  const fields = new Fields();
  const ids = protoToIds(proto, fields);
  const attempt = fields.integer(proto.attempt, "attempt", 1);
  const { bootNonce, storeUuid } = proto;
  if (storeUuid === "") fields.refuse("storeUuid", "is missing");
  if (proto.acknowledged.length > ACKNOWLEDGED_MAX) fields.refuse("acknowledged", "is too long");
  const acknowledged = proto.acknowledged.map((one): SeenAcknowledged => ({
    group: fields.integer(one.group, "acknowledged.group") as GroupId,
    term: fields.integer(one.term, "acknowledged.term") as Term,
    index: fields.integer(one.index, "acknowledged.index") as LogIndex,
    voted: one.voted,
    bootNonce: one.bootNonce,
  }));
  if (fields.error !== undefined) return failed(fields.error);
  return ok({ ...ids, bootNonce, attempt, storeUuid, acknowledged });
}

export interface ForwardedCall {
  readonly ids: PeerIds;
  readonly call: ForwardCall;
}

/** A fraction of a millisecond counts as a whole one. */
export function forwardToProto({ ids, call }: ForwardedCall): ForwardRequest {
  return {
    protocolVersion: ids.protocolVersion,
    clusterId: ids.clusterId,
    fromServer: ids.from,
    toServer: ids.to,
    group: call.group,
    command: call.command,
    timeoutMs: Math.min(Math.ceil(call.timeoutMs), TIMEOUT_MS_MAX),
    mayRelay: call.mayRelay === true,
  };
}

export function protoToForward(
  proto: ForwardRequest__Output,
): Result<ForwardedCall, InvalidArgument> {
  const fields = new Fields();
  const ids = protoToIds(proto, fields);
  const group = fields.integer(proto.group, "group") as GroupId;
  const command = fields.bytes(proto.command, "command", ENTRY_PAYLOAD_BYTES_MAX);
  const { timeoutMs, mayRelay } = proto;
  if (timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX) {
    fields.refuse("timeoutMs", `is not in [1, ${TIMEOUT_MS_MAX}]`);
  }
  if (fields.error !== undefined) return failed(fields.error);
  // A copy: a command lives on in the log, the received frame should not.
  return ok({ ids, call: { group, command: new Uint8Array(command), timeoutMs, mayRelay } });
}

export function protoToIds(
  proto: Pick<Hello__Output, "protocolVersion" | "clusterId" | "fromServer" | "toServer">,
  fields: Fields,
): PeerIds {
  const from = fields.integer(proto.fromServer, "fromServer", 1) as ServerId;
  const to = fields.integer(proto.toServer, "toServer", 1) as ServerId;
  return { protocolVersion: proto.protocolVersion, clusterId: proto.clusterId, from, to };
}

type Failed = NonNullable<ForwardReply__Output["failed"]>;

const OUTCOMES = {
  notApplied: "OUTCOME_NOT_APPLIED",
  unknown: "OUTCOME_UNKNOWN",
} as const satisfies Record<"notApplied" | "unknown", Failed["outcome"]>;

const REASONS = {
  notLeader: "REASON_NOT_LEADER",
  overloaded: "REASON_OVERLOADED",
  leaderChanged: "REASON_LEADER_CHANGED",
  deadlineExceeded: "REASON_DEADLINE_EXCEEDED",
  unreachable: "REASON_UNREACHABLE",
  shuttingDown: "REASON_SHUTTING_DOWN",
} as const satisfies Record<ForwardFailure, Failed["reason"]>;

export function forwardAnswerToProto(answer: ForwardAnswer): ForwardReply {
  if (answer.kind === "applied") {
    return { applied: { index: answer.index, result: answer.result } };
  }
  return { failed: { outcome: OUTCOMES[answer.outcome], reason: REASONS[answer.reason] } };
}

export function protoToForwardAnswer(
  proto: ForwardReply__Output,
): Result<ForwardAnswer, InvalidArgument> {
  const fields = new Fields();
  if (proto.applied) {
    const index = fields.integer(proto.applied.index, "applied.index", 1) as LogIndex;
    const result = fields.bytes(proto.applied.result, "applied.result", RESULT_BYTES_MAX);
    if (fields.error !== undefined) return failed(fields.error);
    return ok({ kind: "applied", index, result: new Uint8Array(result) });
  }
  if (!proto.failed) {
    fields.refuse("answer", "is missing");
    return failed(fields.error as InvalidArgument);
  }
  const outcome = keyOf(OUTCOMES, proto.failed.outcome);
  const reason = keyOf(REASONS, proto.failed.reason);
  if (outcome === undefined) fields.refuse("failed.outcome", "is unknown");
  if (reason === undefined) fields.refuse("failed.reason", "is unknown");
  if (outcome === undefined || reason === undefined) return failed(fields.error as InvalidArgument);
  return ok({ kind: "failed", outcome, reason });
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, value: string): K | undefined {
  for (const key in table) if (table[key] === value) return key;
  return undefined;
}
