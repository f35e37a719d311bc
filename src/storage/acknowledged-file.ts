/**
 * The second durable record (law 30): what each group has acknowledged, in a small file outside the
 * log store. Of each group: its term, its vote in it, and the last index of that term, if any; this
 * triple only grows in a replica's life, as entries of the present term are never truncated (§5.3).
 *
 * Two slots, each a whole record with a number of its own; the readable one with the larger number
 * counts. Every write goes to the other slot than the one before, and nothing that depends on it is
 * told before it is durable: when a crash tears a slot, the other holds all that was told. Once
 * both were written, which takes seconds, either may rot. Both unreadable is damage.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, ReplicaId, Term } from "../base/brands.ts";
import { type Bytes, utf8ToBytes } from "../base/bytes.ts";
import { ok, type Result } from "../base/result.ts";
import {
  CHECKSUM_BYTES,
  type Flaw,
  flaw,
  openRecord,
  RecordReader,
  RecordWriter,
} from "./binary.ts";
import { damaged, StorageError } from "./errors.ts";
import { type FileStore, publishWhole } from "./files.ts";

/** 1: the first. */
const ACKNOWLEDGED_VERSION = 1;

const FILE = "acknowledged";
/** A slot is whole blocks of any disk, so that writing one cannot tear the other. */
const SLOT_ALIGNMENT_BYTES = 4096;
const LENGTH_BYTES = 4;
const GROUP_BYTES = 4 + 3 * 8;

export interface Acknowledged {
  readonly group: GroupId;
  readonly term: Term;
  readonly votedFor: ReplicaId | undefined;
  /** Of the last entry of that term; 0 when there is none. */
  readonly index: LogIndex;
}

export interface AcknowledgedSlot {
  /** Counts writes to the file. */
  readonly number: number;
  readonly storeUuid: string;
  /** Ascending by group. */
  readonly groups: readonly Acknowledged[];
}

export interface AcknowledgedContent {
  readonly slotBytes: number;
  /** The one that counts. */
  readonly slot: AcknowledgedSlot;
  /** Whether the other slot can be read and says the same. */
  readonly isTwofold: boolean;
}

/** Makes the file of a new store, both slots alike. */
export async function createAcknowledged(
  files: FileStore,
  slot: Omit<AcknowledgedSlot, "number">,
): Promise<void> {
  const [first, second] = [encodeSlot({ ...slot, number: 1 }), encodeSlot({ ...slot, number: 2 })];
  const slotBytes = Math.ceil(first.length / SLOT_ALIGNMENT_BYTES) * SLOT_ALIGNMENT_BYTES;
  const content = new Uint8Array(2 * slotBytes);
  content.set(second, slotOffset(2, slotBytes));
  content.set(first, slotOffset(1, slotBytes));
  await publishWhole(files, FILE, content);
}

/** Overwrites one slot, durably. */
export function writeSlot(
  files: FileStore,
  slot: AcknowledgedSlot,
  slotBytes: number,
): Promise<void> {
  const bytes = encodeSlot(slot);
  assert(bytes.length <= slotBytes, "a slot ends where the other begins");
  return files.writeSynced(FILE, slotOffset(slot.number, slotBytes), bytes);
}

/** undefined when there is no such file. Rejects with `damaged` or `formatUnknown`. */
export async function readAcknowledged(
  files: FileStore,
  dir: string,
): Promise<AcknowledgedContent | undefined> {
  const content = await files.readWhole(FILE);
  if (content === undefined) return undefined;
  const slotBytes = content.length / 2;
  if (slotBytes === 0 || slotBytes % SLOT_ALIGNMENT_BYTES !== 0) {
    throw damaged(dir, `a file ${FILE} of ${content.length} bytes`);
  }
  const slots = [0, slotBytes].map((at) => decodeSlot(content.subarray(at, at + slotBytes)));
  const readable = slots.flatMap((slot) => (slot.ok ? [slot.value] : []));
  const [one, other] = readable.toSorted((a, b) => b.number - a.number);
  if (one === undefined) throw unreadable(dir, slots);
  const isTwofold = other !== undefined && saysTheSame(one, other);
  return { slotBytes, slot: one, isTwofold };
}

function unreadable(dir: string, slots: readonly Result<unknown, Flaw>[]): StorageError {
  const found = slots.flatMap((slot) => (slot.ok ? [] : [slot.error]));
  const later = found.find(({ kind }) => kind === "formatUnknown");
  const text = found.map((one) => one.found).join("; ");
  if (later === undefined) return damaged(dir, `no readable slot in the file ${FILE} (${text})`);
  const what = `the file ${FILE} in ${dir} has an unknown format (${text})`;
  return new StorageError("formatUnknown", { dir, what });
}

function saysTheSame(one: AcknowledgedSlot, other: AcknowledgedSlot): boolean {
  return (
    one.storeUuid === other.storeUuid &&
    one.groups.length === other.groups.length &&
    one.groups.every((group, at) => {
      const twin = other.groups[at];
      return (
        twin?.group === group.group &&
        twin.term === group.term &&
        twin.votedFor === group.votedFor &&
        twin.index === group.index
      );
    })
  );
}

function slotOffset(number: number, slotBytes: number): number {
  return (number % 2) * slotBytes;
}

function encodeSlot({ number, storeUuid, groups }: AcknowledgedSlot): Bytes {
  const uuid = utf8ToBytes(storeUuid);
  const bodyBytes = 8 + 2 + uuid.length + 2 + GROUP_BYTES * groups.length;
  const recordBytes = 1 + bodyBytes + CHECKSUM_BYTES;
  const writer = new RecordWriter(ACKNOWLEDGED_VERSION, recordBytes)
    .uint64(number)
    .uint16(uuid.length)
    .append(uuid)
    .uint16(groups.length);
  for (const { group, term, votedFor, index } of groups) {
    writer
      .uint32(group)
      .uint64(term)
      .uint64(votedFor ?? 0)
      .uint64(index);
  }
  const slot = new Uint8Array(LENGTH_BYTES + recordBytes);
  new DataView(slot.buffer).setUint32(0, recordBytes);
  slot.set(writer.finish(), LENGTH_BYTES);
  return slot;
}

/** Total: any bytes give a slot or a flaw. What lies behind the record is not looked at. */
function decodeSlot(bytes: Bytes): Result<AcknowledgedSlot, Flaw> {
  const recordBytes = new RecordReader(bytes).uint32();
  if (recordBytes > bytes.length - LENGTH_BYTES) return flaw("a slot of impossible length");
  const opened = openRecord(
    bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + recordBytes),
    ACKNOWLEDGED_VERSION,
  );
  if (!opened.ok) return opened;
  const reader = opened.value;
  const number = reader.uint64();
  const storeUuid = reader.text();
  const count = reader.uint16();
  if (reader.remaining !== count * GROUP_BYTES) return flaw("a slot of the wrong length");
  const groups = Array.from({ length: count }, (): Acknowledged => {
    const group = reader.uint32() as GroupId;
    const term = reader.uint64() as Term;
    const votedFor = reader.uint64() as ReplicaId;
    const index = reader.uint64() as LogIndex;
    return { group, term, votedFor: votedFor === 0 ? undefined : votedFor, index };
  });
  return reader.complete ? ok({ number, storeUuid, groups }) : flaw("a slot of impossible numbers");
}
