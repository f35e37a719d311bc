/**
 * Refusals as gRPC statuses and back: the code of the one table, and in `grpc-status-details-bin` a
 * google.rpc.Status with ErrorInfo always, RetryInfo, BadRequest and descriptors when there are any
 * (law 23). Storage nodes use the same two functions.
 *
 * Details are bounded, since clients drop a call whose trailers exceed 8 KiB: descriptors are hints
 * and are left out first. Reading is total: of bad or foreign bytes nothing is believed.
 */

import { Metadata, status } from "@grpc/grpc-js";
import type { Descriptor, Refusal } from "./api.ts";
import { Flaw } from "./codec.ts";
import { descriptor } from "./convert-common.ts";
import { ERROR_DOMAIN, isReason, type Reason, reasonRow } from "./errors.ts";
import type {
  OwnershipDetail,
  OwnershipDetail__Output,
} from "./generated/cadastre/v1/OwnershipDetail.ts";
import type { BadRequest, BadRequest__Output } from "./generated/google/rpc/BadRequest.ts";
import type { ErrorInfo, ErrorInfo__Output } from "./generated/google/rpc/ErrorInfo.ts";
import type { RetryInfo, RetryInfo__Output } from "./generated/google/rpc/RetryInfo.ts";
import type { Status, Status__Output } from "./generated/google/rpc/Status.ts";
import { messageOf, type Serializer } from "./public-protos.ts";
import { refusal as refuse } from "./refusal.ts";

export const DETAILS_KEY = "grpc-status-details-bin";

/** Of message and details as they are sent. gRPC for Java takes 8 KiB with the other trailers. */
const TRAILER_BYTES_MAX = 7_500;
/** These three leave room in the worst case, when every character takes three bytes. */
const MESSAGE_CHARS_MAX = 300;
const FIELD_CHARS_MAX = 200;
/** Of all keys and values together. */
const METADATA_BYTES_MAX = 1_000;

/** The contract attaches RetryInfo to these, also when the service named no delay. */
const RETRY_MS_DEFAULT = 100;
const WITH_RETRY_INFO: ReadonlySet<Reason> = new Set<Reason>([
  "TRANSIENT",
  "OVERLOADED",
  "UNOWNED",
  "SESSION_LIVE",
]);
const RETRY_MS_MAX = 3_600_000;

const statusProto = messageOf<Status, Status__Output>("google.rpc.Status");
const errorInfo = messageOf<ErrorInfo, ErrorInfo__Output>("google.rpc.ErrorInfo");
const retryInfo = messageOf<RetryInfo, RetryInfo__Output>("google.rpc.RetryInfo");
const badRequest = messageOf<BadRequest, BadRequest__Output>("google.rpc.BadRequest");
const ownershipDetail = messageOf<OwnershipDetail, OwnershipDetail__Output>(
  "cadastre.v1.OwnershipDetail",
);

/** What a gRPC server sends instead of an answer. */
export interface FailedStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
}

export function refusalToStatus(refusal: Refusal): FailedStatus {
  const details = oneLine(refusal.message, MESSAGE_CHARS_MAX);
  const code = reasonRow(refusal.reason).grpc;
  const metadata = new Metadata();
  metadata.set(DETAILS_KEY, refusalToDetails(refusal, code, details));
  return { code, details, metadata };
}

function refusalToDetails(refusal: Refusal, code: number, text: string): Buffer {
  const { reason, field } = refusal;
  const info = { reason, domain: ERROR_DOMAIN, metadata: boundedMetadata(refusal.metadata) };
  const details = [anyOf("google.rpc.ErrorInfo", errorInfo, info)];
  const retryAfterMs = retryDelayMs(refusal);
  if (retryAfterMs !== undefined) {
    const retryDelay = {
      seconds: Math.floor(retryAfterMs / 1_000),
      nanos: (retryAfterMs % 1_000) * 1_000_000,
    };
    details.push(anyOf("google.rpc.RetryInfo", retryInfo, { retryDelay }));
  }
  if (field !== undefined) {
    const violation = { field: oneLine(field, FIELD_CHARS_MAX), description: text };
    details.push(anyOf("google.rpc.BadRequest", badRequest, { fieldViolations: [violation] }));
  }
  const withoutDescriptors = statusProto.serialize({ code, message: text, details });
  if (refusal.descriptors.length === 0) return withoutDescriptors;
  const base64BytesLeft = TRAILER_BYTES_MAX - encodeURI(text).length;
  const bytesLeft = Math.floor((base64BytesLeft * 3) / 4) - withoutDescriptors.length;
  const descriptors = fittingDescriptors(refusal.descriptors, bytesLeft - ANY_BYTES_MAX);
  if (descriptors.length === 0) return withoutDescriptors;
  details.push(anyOf("cadastre.v1.OwnershipDetail", ownershipDetail, { descriptors }));
  return statusProto.serialize({ code, message: text, details });
}

function anyOf<In>(fullName: string, proto: Serializer<In, unknown>, value: In): PackedAny {
  return { type_url: TYPE_PREFIX + fullName, value: proto.serialize(value) };
}

interface PackedAny {
  readonly type_url: string;
  readonly value: Buffer;
}

/** The type's name and the lengths around it. */
const ANY_BYTES_MAX = 80;

const TYPE_PREFIX = "type.googleapis.com/";

function retryDelayMs({ reason, retryAfterMs }: Refusal): number | undefined {
  if (retryAfterMs === undefined) return WITH_RETRY_INFO.has(reason) ? RETRY_MS_DEFAULT : undefined;
  if (Number.isNaN(retryAfterMs)) return RETRY_MS_DEFAULT;
  return Math.min(Math.max(Math.ceil(retryAfterMs), 0), RETRY_MS_MAX);
}

function boundedMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const bounded: Record<string, string> = {};
  let left = METADATA_BYTES_MAX;
  for (const [key, value] of Object.entries(metadata)) {
    left -= Buffer.byteLength(key) + Buffer.byteLength(value);
    if (left < 0) break;
    bounded[key] = value;
  }
  return bounded;
}

function fittingDescriptors(
  descriptors: readonly Descriptor[],
  bytesMax: number,
): NonNullable<OwnershipDetail["descriptors"]> {
  const fitting: NonNullable<OwnershipDetail["descriptors"]> = [];
  let left = bytesMax;
  for (const one of descriptors) {
    const proto = descriptor.toProto(one);
    left -= ownershipDetail.serialize({ descriptors: [proto] }).length;
    if (left < 0) break;
    fitting.push(proto);
  }
  return fitting;
}

/** grpc-js wraps the one thing worth reading, "connect ECONNREFUSED host:port". For people only. */
export function readableCause(text: string): string {
  const wrapped =
    /No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:.*$/s;
  return text.replace(wrapped, "$1");
}

/** Header-safe: no line ends, no half of a character. */
function oneLine(text: string, charsMax: number): string {
  const cut = text.length <= charsMax ? text : `${text.slice(0, charsMax - 3)}...`;
  return cut.replaceAll(/\s+/g, " ").replaceAll(/\p{Surrogate}/gu, "\ufffd");
}

/** The refusal in the details of a status; undefined when they are none of ours, or broken. */
export function detailsToRefusal(bytes: Uint8Array): Refusal | undefined {
  const outer = unpack(statusProto, bytes);
  if (outer === undefined) return undefined;
  const details = new Map(outer.details.map((detail) => [detail.type_url, detail.value]));
  const info = part(details, "google.rpc.ErrorInfo", errorInfo);
  if (info === undefined || info.domain !== ERROR_DOMAIN || !isReason(info.reason))
    return undefined;
  const delay = part(details, "google.rpc.RetryInfo", retryInfo)?.retryDelay;
  const violation = part(details, "google.rpc.BadRequest", badRequest)?.fieldViolations[0];
  const owners = part(details, "cadastre.v1.OwnershipDetail", ownershipDetail)?.descriptors ?? [];
  return {
    reason: info.reason,
    message: outer.message,
    metadata: info.metadata,
    field: violation?.field,
    retryAfterMs: delay ? durationToMs(delay.seconds, delay.nanos) : undefined,
    descriptors: owners.flatMap((one) => {
      const known = descriptor.fromProto(one);
      return known instanceof Flaw ? [] : [known];
    }),
  };
}

function part<Out>(
  details: ReadonlyMap<string, Buffer>,
  fullName: string,
  proto: Serializer<never, Out>,
): Out | undefined {
  const bytes = details.get(TYPE_PREFIX + fullName);
  return bytes === undefined ? undefined : unpack(proto, bytes);
}

function unpack<Out>(proto: Serializer<never, Out>, bytes: Uint8Array): Out | undefined {
  try {
    return proto.deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    return undefined;
  }
}

/** Nonsense is read as the default, never as no wait at all or for ever. */
function durationToMs(seconds: string, nanos: number): number {
  const delayMs = Number(seconds) * 1_000 + Math.ceil(nanos / 1_000_000);
  return delayMs >= 0 && delayMs <= RETRY_MS_MAX ? delayMs : RETRY_MS_DEFAULT;
}

/** What the adapter knows of a call that failed. */
export interface FailedCall {
  readonly address: string;
  /** Whether the method changes anything. */
  readonly mutates: boolean;
  /** Whether any part of it may have left this process. */
  readonly wasSent: boolean;
}

/**
 * The refusal in an error of grpc-js. Without readable details the outcome counts: what was not
 * sent is TRANSIENT, a mutation that was sent is UNCERTAIN, a read is simply asked elsewhere.
 */
export function fromGrpcError(error: unknown, call: FailedCall): Refusal {
  const details = detailsOf(error);
  const known = details === undefined ? undefined : detailsToRefusal(details);
  if (known !== undefined) return known;
  const code = codeOf(error);
  const codeName = code === undefined ? "no status" : (status[code] ?? `status ${code}`);
  const reason = reasonWithoutDetails(code, call);
  const cause = readableCause(error instanceof Error ? error.message : String(error));
  const text = oneLine(`${call.address}: ${OUTCOME_TEXT[reason]} (${cause})`, MESSAGE_CHARS_MAX);
  const metadata = { address: call.address, grpc_status: codeName };
  return refuse(reason, text, { metadata });
}

const OUTCOME_TEXT = {
  TRANSIENT: "no answer from this server, nothing was changed; another server may answer",
  UNCERTAIN: "the answer was lost, the request may have been applied; repeat it with the same id",
  OVERLOADED: "refused for its size or for lack of resources",
  DENIED: "not allowed for these credentials",
  INVALID: "this server does not know the request; is it a Cadastre server of this release?",
} satisfies Partial<Record<Reason, string>>;

function reasonWithoutDetails(
  code: number | undefined,
  { mutates, wasSent }: FailedCall,
): keyof typeof OUTCOME_TEXT {
  if (!wasSent) return "TRANSIENT";
  const told = code === undefined ? undefined : REASON_OF_FOREIGN_STATUS[code];
  if (told !== undefined) return told;
  if (mutates) return "UNCERTAIN";
  return code === status.RESOURCE_EXHAUSTED ? "OVERLOADED" : "TRANSIENT";
}

/** Statuses that a proxy or another kind of server sends without having done anything. */
const REASON_OF_FOREIGN_STATUS: Readonly<Record<number, "INVALID" | "DENIED">> = {
  [status.UNIMPLEMENTED]: "INVALID",
  [status.INVALID_ARGUMENT]: "INVALID",
  [status.UNAUTHENTICATED]: "DENIED",
  [status.PERMISSION_DENIED]: "DENIED",
};

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

function detailsOf(error: unknown): Uint8Array | undefined {
  if (typeof error !== "object" || error === null || !("metadata" in error)) return undefined;
  if (!(error.metadata instanceof Metadata)) return undefined;
  const value = error.metadata.get(DETAILS_KEY)[0];
  return value instanceof Uint8Array ? value : undefined;
}
