/**
 * The form of a snapshot file, on disk and on the way to another server. It says whose it is, and
 * no part of it can be lost, moved or changed without being noticed.
 *
 *   file   = magic 8 | length 4 | heading | block* | zero 4 | footer
 *   block  = length 4 (1 to 1 MiB) | payload | checksum 4
 *
 * Heading and footer are records (binary.ts). A block's checksum goes on from the one before it,
 * the first from the heading's, and covers the length; the footer repeats the last.
 */

import type { GroupId } from "../base/brands.ts";
import { type Bytes, concatBytes, EMPTY_BYTES, utf8ToBytes } from "../base/bytes.ts";
import { crc32c } from "../base/crc32c.ts";
import { ok, type Result } from "../base/result.ts";
import type { LogPosition } from "../raft/types.ts";
import type { SnapshotName } from "../replica/ports.ts";
import {
  CHECKSUM_BYTES,
  POSITION_BYTES,
  type Flaw,
  flaw,
  openRecord,
  RecordReader,
  RecordWriter,
} from "./binary.ts";

/** 1: the first. */
const SNAPSHOT_VERSION = 1;

export const BLOCK_BYTES_MAX: number = 2 ** 20;

const MAGIC = utf8ToBytes("cadasnap");
const LENGTH_BYTES = 4;
const HEADING_BYTES_MAX = 2 ** 12;
const FOOTER_BYTES = 1 + 8 + 8 + 4 + CHECKSUM_BYTES;

/** Whose state a file holds, and where in the group's log it was taken. */
export interface SnapshotHeading extends SnapshotName {
  readonly clusterId: string;
}

/** Writes the parts of one file, in order. */
export class SnapshotEncoder {
  readonly start: Bytes;
  #checksum: number;
  #blocks = 0;
  #payloadBytes = 0;

  constructor(heading: SnapshotHeading) {
    const record = encodeHeading(heading);
    this.start = concatBytes(MAGIC, uint32(record.length), record);
    this.#checksum = checksumOf(record);
  }

  /** The blocks of a piece, which may be of any length. */
  blocks(piece: Bytes): Bytes[] {
    const parts: Bytes[] = [];
    for (let at = 0; at < piece.length; at += BLOCK_BYTES_MAX) {
      const payload = piece.subarray(at, at + BLOCK_BYTES_MAX);
      const length = uint32(payload.length);
      this.#checksum = crc32c(payload, crc32c(length, this.#checksum));
      this.#blocks++;
      this.#payloadBytes += payload.length;
      parts.push(concatBytes(length, payload, uint32(this.#checksum)));
    }
    return parts;
  }

  end(): Bytes {
    const footer = new RecordWriter(SNAPSHOT_VERSION, FOOTER_BYTES)
      .uint64(this.#blocks)
      .uint64(this.#payloadBytes)
      .uint32(this.#checksum)
      .finish();
    return concatBytes(uint32(0), footer);
  }
}

/** Takes a file's bytes in portions of any length; total on any bytes. */
export class SnapshotDecoder {
  readonly #expected: SnapshotHeading;
  /** What was pushed and not yet looked at, joined only when it is enough to go on. */
  #portions: Bytes[] = [];
  #portionsBytes = 0;
  #neededBytes = 0;
  #rest: Bytes = EMPTY_BYTES;
  #stage: "heading" | "blocks" | "footer" | "end" = "heading";
  #checksum = 0;
  #blocks = 0;
  #payloadBytes = 0;

  constructor(expected: SnapshotHeading) {
    this.#expected = expected;
  }

  /** Payloads that are complete with these bytes, and right. */
  push(bytes: Bytes): Result<readonly Bytes[], Flaw> {
    this.#portions.push(bytes);
    this.#portionsBytes += bytes.length;
    if (this.#portionsBytes < this.#neededBytes) return ok([]);
    this.#rest = concatBytes(...this.#portions);
    const payloads: Bytes[] = [];
    for (;;) {
      const taken = this.#take();
      if (!taken.ok) return taken;
      if (taken.value === undefined) break;
      if (taken.value.length > 0) payloads.push(taken.value);
    }
    this.#portions = [this.#rest];
    this.#portionsBytes = this.#rest.length;
    return ok(payloads);
  }

  /** All bytes were pushed. */
  finish(): Result<undefined, Flaw> {
    return this.#stage === "end" ? ok(undefined) : flaw("a snapshot that is cut short");
  }

  /** The next payload, empty for other parts; undefined when more bytes are needed. */
  #take(): Result<Bytes | undefined, Flaw> {
    switch (this.#stage) {
      case "heading":
        return this.#takeHeading();
      case "blocks":
        return this.#takeBlock();
      case "footer":
        return this.#takeFooter();
      case "end":
        if (this.#rest.length > 0) return flaw("bytes behind the end of a snapshot");
        return ok(undefined);
    }
  }

  #takeHeading(): Result<Bytes | undefined, Flaw> {
    const prefix = this.#rest.subarray(0, MAGIC.length);
    if (prefix.some((byte, at) => byte !== MAGIC[at])) return flaw("no snapshot at all");
    if (!this.#has(MAGIC.length + LENGTH_BYTES)) return ok(undefined);
    const length = uint32At(this.#rest, MAGIC.length);
    if (length > HEADING_BYTES_MAX) return flaw("a heading of impossible length");
    if (!this.#has(MAGIC.length + LENGTH_BYTES + length)) return ok(undefined);
    this.#skip(MAGIC.length + LENGTH_BYTES);
    const record = this.#skip(length);
    const heading = decodeHeading(record);
    if (!heading.ok) return heading;
    const stranger = strangeness(heading.value, this.#expected);
    if (stranger !== undefined) return flaw(stranger);
    this.#checksum = checksumOf(record);
    this.#stage = "blocks";
    return ok(EMPTY_BYTES);
  }

  #takeBlock(): Result<Bytes | undefined, Flaw> {
    if (!this.#has(LENGTH_BYTES)) return ok(undefined);
    const length = uint32At(this.#rest, 0);
    if (length === 0) {
      this.#skip(LENGTH_BYTES);
      this.#stage = "footer";
      return ok(EMPTY_BYTES);
    }
    if (length > BLOCK_BYTES_MAX) return flaw(`block ${this.#blocks} of impossible length`);
    if (!this.#has(LENGTH_BYTES + length + CHECKSUM_BYTES)) return ok(undefined);
    const checksum = crc32c(this.#rest.subarray(0, LENGTH_BYTES + length), this.#checksum);
    this.#skip(LENGTH_BYTES);
    const payload = this.#skip(length);
    if (uint32At(this.#skip(CHECKSUM_BYTES), 0) !== checksum) {
      return flaw(`block ${this.#blocks} whose checksum does not match`);
    }
    this.#checksum = checksum;
    this.#blocks++;
    this.#payloadBytes += length;
    return ok(payload);
  }

  #takeFooter(): Result<Bytes | undefined, Flaw> {
    if (!this.#has(FOOTER_BYTES)) return ok(undefined);
    const opened = openRecord(this.#skip(FOOTER_BYTES), SNAPSHOT_VERSION);
    if (!opened.ok) return opened;
    const reader = opened.value;
    const isAsCounted =
      reader.uint64() === this.#blocks &&
      reader.uint64() === this.#payloadBytes &&
      reader.uint32() === this.#checksum;
    if (!isAsCounted || !reader.complete) return flaw("a footer that counts another content");
    this.#stage = "end";
    return ok(EMPTY_BYTES);
  }

  /** Whether this many bytes are here; nothing is looked at before they are. */
  #has(length: number): boolean {
    this.#neededBytes = length;
    return this.#rest.length >= length;
  }

  #skip(length: number): Bytes {
    const skipped = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return skipped;
  }
}

function encodeHeading({ clusterId, group, position }: SnapshotHeading): Bytes {
  const text = utf8ToBytes(clusterId);
  const size = 1 + 4 + POSITION_BYTES + 2 + text.length + CHECKSUM_BYTES;
  return new RecordWriter(SNAPSHOT_VERSION, size)
    .uint32(group)
    .position(position)
    .uint16(text.length)
    .append(text)
    .finish();
}

function decodeHeading(record: Bytes): Result<SnapshotHeading, Flaw> {
  const opened = openRecord(record, SNAPSHOT_VERSION);
  if (!opened.ok) return opened;
  const reader = opened.value;
  const group = reader.uint32() as GroupId;
  const position = reader.position();
  const clusterId = reader.text();
  if (!reader.complete) return flaw("a heading of the wrong length");
  return ok({ clusterId, group, position });
}

/** How a heading differs from the one that is expected; undefined when it does not. */
function strangeness(found: SnapshotHeading, expected: SnapshotHeading): string | undefined {
  if (found.clusterId !== expected.clusterId) {
    return `a snapshot of cluster ${found.clusterId}, not of ${expected.clusterId}`;
  }
  if (found.group !== expected.group) {
    return `a snapshot of group ${found.group}, not of ${expected.group}`;
  }
  const [is, isExpected] = [positionText(found.position), positionText(expected.position)];
  return is === isExpected ? undefined : `a snapshot at ${is}, not at ${isExpected}`;
}

/** Index, term and log time, as names of files have them. */
export function positionText({ index, term, timeMs }: LogPosition): string {
  return `${index}-${term}-${timeMs}`;
}

/** The checksum that closes a record. */
function checksumOf(record: Bytes): number {
  return uint32At(record, record.length - CHECKSUM_BYTES);
}

function uint32(value: number): Bytes {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function uint32At(bytes: Bytes, at: number): number {
  return new RecordReader(bytes.subarray(at, at + LENGTH_BYTES)).uint32();
}
