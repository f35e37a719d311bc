/**
 * The entries of an append message in one bytes field, back to back (decisions/0003). The form is
 * documented at AppendEntries.entries in peer.proto. Indexes are not written: entries are
 * contiguous from prevIndex + 1 by construction.
 */

import type { LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import { type Bytes, EMPTY_BYTES } from "../base/bytes.ts";
import { assert } from "../base/assert.ts";
import type { Entry, EntryKind } from "../raft/types.ts";
import type { Fields } from "./fields.ts";

/** Payload bytes of one entry: commands are at most 512 KiB, and a quarter of that is slack. */
export const ENTRY_PAYLOAD_BYTES_MAX: number = 640 * 1024;
/** Packed bytes of one message. Below the 4 MiB that a frame may have (net/tuning.ts). */
export const PACKED_ENTRIES_BYTES_MAX: number = 2 * 1024 * 1024;
/** What an entry takes beside its payload. */
export const ENTRY_OVERHEAD_BYTES = 21;

const NOOP = 1;
const COMMAND = 2;
const HIGH = 2 ** 32;
/** High halves of safe integers stay below this. */
const HIGH_END = 2 ** 21;

export function packedEntriesBytes(entries: readonly Entry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += ENTRY_OVERHEAD_BYTES + entry.payload.length;
  return bytes;
}

export function packEntries(entries: readonly Entry[]): Bytes {
  if (entries.length === 0) return EMPTY_BYTES;
  const packed = Buffer.allocUnsafe(packedEntriesBytes(entries));
  let offset = 0;
  for (const { kind, term, timeMs, payload } of entries) {
    assert(payload.length <= ENTRY_PAYLOAD_BYTES_MAX, "an entry's payload is within its bound");
    packed[offset] = kind === "noop" ? NOOP : COMMAND;
    packed.writeUInt32BE(Math.floor(term / HIGH), offset + 1);
    packed.writeUInt32BE(term >>> 0, offset + 5);
    packed.writeUInt32BE(Math.floor(timeMs / HIGH), offset + 9);
    packed.writeUInt32BE(timeMs >>> 0, offset + 13);
    packed.writeUInt32BE(payload.length, offset + 17);
    packed.set(payload, offset + ENTRY_OVERHEAD_BYTES);
    offset += ENTRY_OVERHEAD_BYTES + payload.length;
  }
  return packed;
}

/** What the entries must fit: they follow (prevIndex, prevTerm) in a message of this term. */
export interface EntriesContext {
  readonly prevIndex: LogIndex;
  readonly prevTerm: Term;
  readonly term: Term;
}

/**
 * The entries; what breaks a bound is refused in fields. Payloads are views of one copy, so that
 * an entry in the log holds on to its own message and not to a whole received frame.
 */
export function unpackEntries(packed: Bytes, context: EntriesContext, fields: Fields): Entry[] {
  const entries: Entry[] = [];
  if (fields.bytes(packed, "appendEntries.entries", PACKED_ENTRIES_BYTES_MAX).length === 0) {
    return entries;
  }
  const bytes = new Uint8Array(packed);
  const view = new DataView(bytes.buffer);
  let offset = 0;
  let index = context.prevIndex as number;
  let term: number = context.prevTerm;
  let timeMs = 0;
  while (offset < bytes.length) {
    index += 1;
    const problem = headerProblem(view, offset, { term, termMax: context.term, timeMs });
    if (problem !== undefined || !Number.isSafeInteger(index)) {
      const [field, text] = problem ?? ["index", "is not below 2^53"];
      fields.refuse(`appendEntries.entries[${entries.length}].${field}`, text);
      return [];
    }
    term = readInteger(view, offset + 1);
    timeMs = readInteger(view, offset + 9);
    const start = offset + ENTRY_OVERHEAD_BYTES;
    offset = start + view.getUint32(offset + 17);
    entries.push({
      index: index as LogIndex,
      term: term as Term,
      kind: kindOf(view.getUint8(start - ENTRY_OVERHEAD_BYTES)),
      timeMs: timeMs as LogTimeMs,
      payload: start === offset ? EMPTY_BYTES : bytes.subarray(start, offset),
    });
  }
  return entries;
}

interface Previous {
  readonly term: number;
  readonly termMax: number;
  readonly timeMs: number;
}

/** What is wrong with the entry at offset: field and problem. */
function headerProblem(
  view: DataView,
  offset: number,
  previous: Previous,
): readonly [string, string] | undefined {
  if (offset + ENTRY_OVERHEAD_BYTES > view.byteLength) return ["kind", "is cut off"];
  const kind = view.getUint8(offset);
  if (kind !== NOOP && kind !== COMMAND) return ["kind", `is unknown: ${kind}`];
  if (view.getUint32(offset + 1) >= HIGH_END) return ["term", "is not below 2^53"];
  const term = readInteger(view, offset + 1);
  if (term < 1 || term < previous.term) return ["term", "is below the previous entry's"];
  if (term > previous.termMax) return ["term", "is above the sender's"];
  if (view.getUint32(offset + 9) >= HIGH_END) return ["timeMs", "is not below 2^53"];
  if (readInteger(view, offset + 9) < previous.timeMs) {
    return ["timeMs", "is below the previous entry's"];
  }
  const length = view.getUint32(offset + 17);
  if (length > ENTRY_PAYLOAD_BYTES_MAX) return ["payload", `has ${length} bytes, too many`];
  if (offset + ENTRY_OVERHEAD_BYTES + length > view.byteLength) return ["payload", "is cut off"];
  if (kind === NOOP && length > 0) return ["payload", "is not empty, but the kind is noop"];
  return undefined;
}

function readInteger(view: DataView, offset: number): number {
  return view.getUint32(offset) * HIGH + view.getUint32(offset + 4);
}

function kindOf(byte: number): EntryKind {
  return byte === NOOP ? "noop" : "command";
}
