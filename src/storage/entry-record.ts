/**
 * One log entry as a stored record, and the chain that ties each record to the one before it.
 *
 *   version 1 | group 4 | index 8 | term 8 | kind 1 | time 8 | write sequence 8 | payload
 *   | chain 4 | CRC 4
 *
 * chain = CRC-32C(chain of the previous record, CRC-32C of this record up to its chain). A record
 * that is intact and yet not the one that was written here (an older one that came back, a
 * neighbour's) breaks the chain, which a checksum of its own cannot show.
 */

import type { GroupId, LogIndex, LogTimeMs, Term } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";
import { crc32c } from "../base/crc32c.ts";
import { ok, type Result } from "../base/result.ts";
import type { Entry, EntryKind, LogPosition } from "../raft/types.ts";
import {
  CHECKSUM_BYTES,
  CHECKSUM_FLAW,
  type Flaw,
  flaw,
  RecordReader,
  RecordWriter,
  unknownVersion,
} from "./binary.ts";

const ENTRY_VERSION = 1;
const CHAIN_BYTES = 4;
const FIXED_BYTES = 1 + 4 + 8 + 8 + 1 + 8 + 8;

/** Chain value before the first entry of a log. */
export const CHAIN_START = 0;

const KIND_CODES: Record<EntryKind, number> = { noop: 1, command: 2 };

export interface EntryRecord {
  readonly group: GroupId;
  readonly entry: Entry;
  readonly writeSequence: number;
  /** As stored; right only if it equals chainAfter(the previous record's chain, bodyChecksum). */
  readonly chain: number;
  readonly bodyChecksum: number;
}

/** The record of an entry that follows one with the chain value prevChain. */
export function encodeEntry(record: {
  readonly group: GroupId;
  readonly entry: Entry;
  readonly writeSequence: number;
  readonly prevChain: number;
}): { readonly value: Bytes; readonly chain: number } {
  const { entry } = record;
  const size = FIXED_BYTES + entry.payload.length + CHAIN_BYTES + CHECKSUM_BYTES;
  const writer = new RecordWriter(ENTRY_VERSION, size)
    .uint32(record.group)
    .uint64(entry.index)
    .uint64(entry.term)
    .uint8(KIND_CODES[entry.kind])
    .uint64(entry.timeMs)
    .uint64(record.writeSequence)
    .append(entry.payload);
  const bodyChecksum = writer.checksum();
  const chain = chainAfter(record.prevChain, bodyChecksum);
  writer.uint32(chain);
  const chainBytes = writer.bytes.subarray(size - CHAIN_BYTES - CHECKSUM_BYTES, -CHECKSUM_BYTES);
  return { value: writer.finish(crc32c(chainBytes, bodyChecksum)), chain };
}

/** Total: any bytes give a record or a flaw. The payload is a view of the value, not a copy. */
export function decodeEntry(value: Bytes): Result<EntryRecord, Flaw> {
  const bodyBytes = value.length - CHAIN_BYTES - CHECKSUM_BYTES;
  if (bodyBytes < FIXED_BYTES) return flaw("an entry that is too short");
  const bodyChecksum = crc32c(value.subarray(0, bodyBytes));
  const trailer = new RecordReader(value.subarray(bodyBytes));
  const chain = trailer.uint32();
  const chainBytes = value.subarray(bodyBytes, bodyBytes + CHAIN_BYTES);
  if (trailer.uint32() !== crc32c(chainBytes, bodyChecksum)) return flaw(CHECKSUM_FLAW);
  const reader = new RecordReader(value.subarray(0, bodyBytes));
  const version = reader.uint8();
  if (version !== ENTRY_VERSION) return unknownVersion(version);
  const group = reader.uint32() as GroupId;
  const index = reader.uint64() as LogIndex;
  const term = reader.uint64() as Term;
  const kind = kindOf(reader.uint8());
  const timeMs = reader.uint64() as LogTimeMs;
  const writeSequence = reader.uint64();
  const payload = reader.take(reader.remaining);
  if (!reader.complete || kind === undefined) return flaw("an entry with impossible fields");
  const entry = { index, term, kind, timeMs, payload };
  return ok({ group, entry, writeSequence, chain, bodyChecksum });
}

/** Chain value of a log that begins after an installed snapshot, whose entries were never here. */
export function chainOfInstalled({ index, term, timeMs }: LogPosition): number {
  const place = new RecordWriter(ENTRY_VERSION, 1 + 3 * 8 + CHECKSUM_BYTES);
  return chainAfter(CHAIN_START, place.uint64(index).uint64(term).uint64(timeMs).checksum());
}

const link = new Uint8Array(8);
const linkView = new DataView(link.buffer);

export function chainAfter(prevChain: number, bodyChecksum: number): number {
  linkView.setUint32(0, prevChain);
  linkView.setUint32(4, bodyChecksum);
  return crc32c(link);
}

function kindOf(code: number): EntryKind | undefined {
  if (code === KIND_CODES.noop) return "noop";
  return code === KIND_CODES.command ? "command" : undefined;
}
