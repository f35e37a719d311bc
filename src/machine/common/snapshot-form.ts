/**
 * What all snapshots have in common: the frame around a machine's records. Stored and sent, so it
 * has golden tests.
 *
 *   snapshot = "CDST" machine version frame(position) frame(record)* frame(0 end)
 *   frame    = length payload, the length a varint of at most 4 bytes
 *
 * `machine` and `version` are one byte each and stand first, so that a program can tell what it
 * cannot read. Records begin with their tag, which is never 0: that is the end mark's. The end mark
 * tells how many records there were and the digest of all bytes before it.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { GroupId, LogTimeMs, Revision } from "../../base/brands.ts";
import { brandedUint, type Codec, struct, text, uint } from "../../base/codec.ts";

const MACHINES = ["root", "shard"] as const;

export interface SnapshotHeading {
  readonly machine: (typeof MACHINES)[number];
  /** Below 256. Raised with every change of a shipped record. */
  readonly version: number;
}

/** How one kind of machine is written. */
export interface SnapshotForm<Stored> extends SnapshotHeading {
  /** A union: its tags begin at 1. */
  readonly record: Codec<Stored>;
}

/** Where in its group's history a snapshot stands. */
export interface SnapshotPosition {
  readonly group: GroupId;
  /** Of the last applied entry; tells the generation, too (law 2). */
  readonly revision: Revision;
  readonly timeMs: LogTimeMs;
}

export interface SnapshotEnd {
  readonly recordCount: number;
  readonly digest: string;
}

const MAGIC: readonly number[] = [0x43, 0x44, 0x53, 0x54];
export const PRELUDE_BYTES: number = MAGIC.length + 2;
export const END_TAG = 0;
/**
 * Far above the largest record: an answer about 1,000 ranges with keys of 4 KiB. Bounds what a
 * forged length can make a reader hold.
 */
export const FRAME_BYTES_MAX: number = 64 * 1024 * 1024;

export const positionCodec: Codec<SnapshotPosition> = struct<SnapshotPosition>({
  group: brandedUint<GroupId>(),
  revision: brandedUint<Revision>(),
  timeMs: brandedUint<LogTimeMs>(),
});

export const endCodec: Codec<SnapshotEnd> = struct<SnapshotEnd>({
  recordCount: uint,
  digest: text,
});

export function preludeOf(form: SnapshotHeading): Bytes {
  return Uint8Array.of(...MAGIC, MACHINES.indexOf(form.machine), form.version);
}

/** Why bytes that begin like this cannot be read in a form; undefined: they can. */
export function judgePrelude(form: SnapshotHeading, bytes: Bytes): string | undefined {
  if (MAGIC.some((byte, at) => bytes[at] !== byte)) {
    return "these bytes are no snapshot: fetch it again from another server";
  }
  const machine = bytes[MAGIC.length] as number;
  if (MACHINES[machine] !== form.machine) {
    return `the snapshot is not of a ${form.machine}: give this group one of its own`;
  }
  const version = bytes[MAGIC.length + 1] as number;
  if (version === form.version) return undefined;
  return (
    `the snapshot has form ${version} and this program reads form ${form.version}: ` +
    "run the version that wrote it"
  );
}
