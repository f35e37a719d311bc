/** The smallest machine with a state, answers and something that falls due. */

import {
  type GroupId,
  type LogIndex,
  type LogTimeMs,
  type Revision,
  revisionOf,
} from "../../src/base/brands.ts";
import type { Bytes } from "../../src/base/bytes.ts";
import { type Codec, decode, encode, struct, uint, union } from "../../src/base/codec.ts";
import type { Result } from "../../src/base/result.ts";
import type {
  AppliedEntry,
  EntryMeta,
  GroupMachine,
  SnapshotCut,
  SnapshotRestore,
} from "../../src/machine/group.ts";

export type CountRequest =
  | { readonly kind: "add"; readonly amount: number }
  /** Something falls due at this log time. */
  | { readonly kind: "remind"; readonly atMs: number }
  | { readonly kind: "expire" };

export interface CountAnswer {
  readonly total: number;
  readonly index: number;
}

const requestCodec: Codec<CountRequest> = union<CountRequest>({
  add: [1, struct({ amount: uint })],
  remind: [2, struct({ atMs: uint })],
  expire: [3, struct({})],
});

const answerCodec: Codec<CountAnswer> = struct<CountAnswer>({ total: uint, index: uint });

export class CountingMachine implements GroupMachine<CountRequest, CountAnswer, string> {
  readonly group: GroupId;
  revision: Revision = revisionOf(0, 0 as LogIndex);
  total = 0;
  /** What was applied, in order; a noop is "noop". */
  readonly applied: string[] = [];
  dueMs: LogTimeMs | undefined = undefined;

  constructor(group: GroupId) {
    this.group = group;
  }

  apply(meta: EntryMeta, request: CountRequest | undefined): AppliedEntry<CountAnswer, string> {
    this.revision = revisionOf(0, meta.index);
    if (this.dueMs !== undefined && this.dueMs <= meta.timeMs) this.dueMs = undefined;
    if (request?.kind === "add") this.total += request.amount;
    if (request?.kind === "remind") this.dueMs = request.atMs as LogTimeMs;
    const what = request === undefined ? "noop" : request.kind;
    this.applied.push(request?.kind === "add" ? `add ${request.amount}` : what);
    const answer = request && { total: this.total, index: meta.index };
    return { revision: this.revision, answer, events: [] };
  }

  nextDueMs(): LogTimeMs | undefined {
    return this.dueMs;
  }

  expireRequest(): CountRequest {
    return { kind: "expire" };
  }

  openCut(): SnapshotCut {
    throw new Error("the counting machine takes no snapshots");
  }

  beginRestore(): SnapshotRestore {
    throw new Error("the counting machine takes no snapshots");
  }

  digest(): string {
    return `${this.revision}:${this.total}`;
  }

  encodeRequest(request: CountRequest): Bytes {
    return encode(requestCodec, request);
  }

  decodeRequest(bytes: Bytes): Result<CountRequest, string> {
    return decode(requestCodec, bytes);
  }

  encodeAnswer(answer: CountAnswer): Bytes {
    return encode(answerCodec, answer);
  }

  decodeAnswer(bytes: Bytes): Result<CountAnswer, string> {
    return decode(answerCodec, bytes);
  }
}

export function add(amount: number): CountRequest {
  return { kind: "add", amount };
}
