/**
 * The keys of the log store: one letter, then fixed-width big-endian numbers, so that LevelDB's
 * byte order is group order and, within a group, index order.
 *
 *   A        admitted: the others know this store P|server  a peer's store
 *   C|group  replica id and first configuration   H|group        hard state and bounds of the log
 *   I        identity of the store                L|group|index  one entry
 *   S|group  the snapshot to start from           W              head of the store: the last write
 *
 * A scan in key order meets C, H and I before the entries that they are needed for, and W last.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, LogIndex, ServerId } from "../base/brands.ts";
import type { Bytes } from "../base/bytes.ts";

const ADMISSION = 0x41;
const CONFIGURATION = 0x43;
const HARD_STATE = 0x48;
const IDENTITY = 0x49;
const ENTRY = 0x4c;
const PEER = 0x50;
const SNAPSHOT_POINTER = 0x53;
const STORE_HEAD = 0x57;

const GROUP_KEY_BYTES = 5;
export const ENTRY_KEY_BYTES = 13;

const PEER_KEY_BYTES = 9;

export const ADMISSION_KEY: Bytes = Uint8Array.of(ADMISSION);
export const IDENTITY_KEY: Bytes = Uint8Array.of(IDENTITY);
export const STORE_HEAD_KEY: Bytes = Uint8Array.of(STORE_HEAD);

export type StoreKey =
  | { readonly kind: "admission" | "identity" | "storeHead" }
  | { readonly kind: "peer"; readonly server: ServerId }
  | {
      readonly kind: "configuration" | "hardState" | "snapshotPointer";
      readonly group: GroupId;
    }
  | { readonly kind: "entry"; readonly group: GroupId; readonly index: LogIndex };

export function configurationKey(group: GroupId): Bytes {
  return groupKey(CONFIGURATION, group);
}

export function hardStateKey(group: GroupId): Bytes {
  return groupKey(HARD_STATE, group);
}

export function snapshotPointerKey(group: GroupId): Bytes {
  return groupKey(SNAPSHOT_POINTER, group);
}

export function peerKey(server: ServerId): Bytes {
  const key = new Uint8Array(PEER_KEY_BYTES);
  key[0] = PEER;
  writeUint64(key, 1, server);
  return key;
}

export function entryKey(group: GroupId, index: LogIndex): Bytes {
  const key = new Uint8Array(ENTRY_KEY_BYTES);
  key[0] = ENTRY;
  writeGroup(key, group);
  writeUint64(key, 5, index);
  return key;
}

/** What a key stands for; undefined when this store writes no such key. */
export function parseKey(key: Bytes): StoreKey | undefined {
  switch (key[0] ?? 0) {
    case ADMISSION:
      return key.length === 1 ? { kind: "admission" } : undefined;
    case IDENTITY:
      return key.length === 1 ? { kind: "identity" } : undefined;
    case STORE_HEAD:
      return key.length === 1 ? { kind: "storeHead" } : undefined;
    case CONFIGURATION:
      return parseGroupKey("configuration", key);
    case HARD_STATE:
      return parseGroupKey("hardState", key);
    case SNAPSHOT_POINTER:
      return parseGroupKey("snapshotPointer", key);
    case PEER: {
      const server = key.length === PEER_KEY_BYTES ? readUint64(key, 1) : undefined;
      return server === undefined ? undefined : { kind: "peer", server: server as ServerId };
    }
    case ENTRY: {
      const index = key.length === ENTRY_KEY_BYTES ? readUint64(key, 5) : undefined;
      if (index === undefined) return undefined;
      return { kind: "entry", group: readUint32(key, 1) as GroupId, index: index as LogIndex };
    }
    default:
      return undefined;
  }
}

function parseGroupKey(
  kind: "configuration" | "hardState" | "snapshotPointer",
  key: Bytes,
): StoreKey | undefined {
  if (key.length !== GROUP_KEY_BYTES) return undefined;
  return { kind, group: readUint32(key, 1) as GroupId };
}

function groupKey(letter: number, group: GroupId): Bytes {
  const key = new Uint8Array(GROUP_KEY_BYTES);
  key[0] = letter;
  writeGroup(key, group);
  return key;
}

function writeGroup(key: Bytes, group: GroupId): void {
  assert(group >= 0 && group < 2 ** 32, "a group number fits 32 bits");
  key[1] = group >>> 24;
  key[2] = group >>> 16;
  key[3] = group >>> 8;
  key[4] = group;
}

function writeUint64(key: Bytes, at: number, value: number): void {
  const high = Math.floor(value / 2 ** 32);
  key[at] = high >>> 24;
  key[at + 1] = high >>> 16;
  key[at + 2] = high >>> 8;
  key[at + 3] = high;
  key[at + 4] = value >>> 24;
  key[at + 5] = value >>> 16;
  key[at + 6] = value >>> 8;
  key[at + 7] = value;
}

/** undefined when it is not a safe integer. */
function readUint64(key: Bytes, at: number): number | undefined {
  const value = readUint32(key, at) * 2 ** 32 + readUint32(key, at + 4);
  return Number.isSafeInteger(value) ? value : undefined;
}

function readUint32(key: Bytes, at: number): number {
  const high = (byteAt(key, at) << 24) | (byteAt(key, at + 1) << 16);
  return (high | (byteAt(key, at + 2) << 8) | byteAt(key, at + 3)) >>> 0;
}

function byteAt(key: Bytes, at: number): number {
  return key[at] as number;
}
