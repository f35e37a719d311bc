/**
 * Request ids, what is remembered of an answered request, and the records by which that is stored
 * (law 5). The memory itself is in request-memory.ts.
 */

import type { LogTimeMs, Revision } from "../../base/brands.ts";
import { brandedUint, type Codec, list, struct, text, uint } from "../../base/codec.ts";
import type { Milestone, StoredFloor } from "./request-floor.ts";

/** Names one mutation of one client. */
export interface RequestId {
  readonly clientId: string;
  /** Counts the client's requests from 1. */
  readonly sequence: number;
  /** A revision of the group that the client had seen when it made the id. */
  readonly seenRevision: Revision;
  /** The client holds the answers of all its requests with a lower sequence. */
  readonly acknowledgedBelow: number;
}

/**
 * Why a request is not run, though nothing is wrong with its command.
 *
 * "requestIdReused": same id, other effect or seen revision. "requestIdExpired": below the client's
 * mark or the floor, outcome unknown. "seenRevisionAhead": the client claims to have seen the
 * future. "requestMemoryFull": it can be sent again as it is.
 */
export type RequestRefusal =
  | "requestIdReused"
  | "requestIdExpired"
  | "seenRevisionAhead"
  | "requestMemoryFull";

/** An answer that was given, and to what. */
export interface Remembered<Answer> {
  readonly clientId: string;
  readonly sequence: number;
  readonly seenRevision: Revision;
  /** A digest of the request's effect. */
  readonly fingerprint: number;
  readonly answer: Answer;
  /** Of the entry that decided it; no two answers have the same. */
  readonly revision: Revision;
}

/** The memory as it is stored: its floor, then each client, followed by its answers. */
export type StoredMemory<Answer> =
  | ({ readonly kind: "floor" } & StoredFloor)
  | ({ readonly kind: "client" } & StoredClient)
  | ({ readonly kind: "answer" } & StoredAnswer<Answer>);

export interface StoredClient {
  readonly clientId: string;
  readonly mark: number;
}

export type StoredAnswer<Answer> = Omit<Remembered<Answer>, "clientId">;

const revision = brandedUint<Revision>();

export const requestIdCodec: Codec<RequestId> = struct<RequestId>({
  clientId: text,
  sequence: uint,
  seenRevision: revision,
  acknowledgedBelow: uint,
});

export const storedFloorCodec: Codec<StoredFloor> = struct<StoredFloor>({
  floor: revision,
  milestones: list(struct<Milestone>({ timeMs: brandedUint<LogTimeMs>(), revision })),
});

export const storedClientCodec: Codec<StoredClient> = struct<StoredClient>({
  clientId: text,
  mark: uint,
});

export function storedAnswerCodec<Answer>(answer: Codec<Answer>): Codec<StoredAnswer<Answer>> {
  return struct<StoredAnswer<Answer>>({
    sequence: uint,
    seenRevision: revision,
    fingerprint: uint,
    answer,
    revision,
  });
}
