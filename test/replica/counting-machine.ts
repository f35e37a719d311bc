/** The smallest machine with a state, answers and something that falls due. */

import {
  type GroupId,
  type LogIndex,
  type LogTimeMs,
  type Revision,
  revisionOf,
} from "../../src/base/brands.ts";
import { type Bytes, concatBytes } from "../../src/base/bytes.ts";
import {
  brandedUint,
  type Codec,
  decode,
  encode,
  list,
  optional,
  struct,
  text,
  uint,
  union,
} from "../../src/base/codec.ts";
import { crc32c } from "../../src/base/crc32c.ts";
import { failed, ok, type Result } from "../../src/base/result.ts";
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

interface CountState {
  readonly version: number;
  readonly revision: Revision;
  readonly total: number;
  readonly applied: readonly string[];
  readonly dueMs: number | undefined;
}

const stateCodec: Codec<CountState> = struct<CountState>({
  version: uint,
  revision: brandedUint<Revision>(),
  total: uint,
  applied: list(text),
  dueMs: optional(uint),
});

/** Small, so that the smallest state has several pieces. */
const PIECE_BYTES = 8;

export class CountingMachine implements GroupMachine<CountRequest, CountAnswer, string> {
  readonly group: GroupId;
  revision: Revision = revisionOf(0, 0 as LogIndex);
  total = 0;
  /** What was applied, in order; a noop is "noop". */
  applied: string[] = [];
  dueMs: LogTimeMs | undefined = undefined;
  /** Of its snapshots; another cannot be read. */
  version = 1;
  openCuts = 0;

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
    const bytes = this.#encodeState();
    this.openCuts++;
    let isOpen = true;
    let at = 0;
    return {
      revision: this.revision,
      next: () => {
        if (!isOpen) throw new Error("a closed cut gives nothing");
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        at += piece.length;
        return piece.length === 0 ? undefined : piece;
      },
      close: () => {
        if (isOpen) this.openCuts--;
        isOpen = false;
      },
    };
  }

  beginRestore(): SnapshotRestore {
    let bytes: Bytes = new Uint8Array(0);
    return {
      get isWhole() {
        return decode(stateCodec, bytes).ok;
      },
      accept: (part) => {
        bytes = concatBytes(bytes, part);
        return bytes[0] === this.version ? ok(undefined) : failed("it is of another version");
      },
      finish: () => {
        const decoded = decode(stateCodec, bytes);
        if (!decoded.ok) return decoded;
        const { revision, total, applied, dueMs } = decoded.value;
        this.revision = revision;
        this.total = total;
        this.applied = [...applied];
        this.dueMs = dueMs as LogTimeMs | undefined;
        return ok(undefined);
      },
    };
  }

  digest(): string {
    return crc32c(this.#encodeState()).toString(16).padStart(16, "0");
  }

  #encodeState(): Bytes {
    const { version, revision, total, applied, dueMs } = this;
    return encode(stateCodec, { version, revision, total, applied, dueMs });
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
