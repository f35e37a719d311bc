// The boundaries that a new keyspace starts with, read from text and put in order. Checked whole
// before anything is sent; a refusal names the option and which of the keys is wrong.
import { type Bytes, bytesEqual, compareBytes } from "../../base/bytes.ts";
import type { KeyspaceKind } from "../../wire/api.ts";
import { BULK_BYTES_MAX, KEY_BYTES_MAX, SPLIT_KEYS_MAX } from "../../wire/limits.ts";
import { usageError } from "../failure.ts";
import { keyText, readKey } from "../render/keys.ts";

export interface SplitText {
  /** The option that the text came by. */
  readonly flag: string;
  readonly parts: readonly string[];
}

/** The keys in order, none twice, none empty. */
export function readSplitKeys(text: SplitText, kind: KeyspaceKind): Bytes[] {
  const { flag, parts } = text;
  const refuse = (message: string): Error => usageError(`${flag}: ${message}`);
  const keys = parts.map((part, at) => {
    const key = readKey(part)[kind];
    if (!key.ok) throw refuse(`key ${at + 1} ("${part}"): ${key.error}`);
    if (key.value.length === 0) throw refuse(`key ${at + 1} is empty: no range ends there`);
    if (key.value.length > KEY_BYTES_MAX) {
      throw refuse(`key ${at + 1} has ${key.value.length} bytes, more than ${KEY_BYTES_MAX}`);
    }
    return key.value;
  });
  if (keys.length > SPLIT_KEYS_MAX) {
    throw usageError(
      `${flag}: ${keys.length} keys, more than ${SPLIT_KEYS_MAX}`,
      "bring larger maps in with `cadastre import`",
    );
  }
  const bytes = keys.reduce((sum, key) => sum + key.length, 0);
  if (bytes > BULK_BYTES_MAX) {
    throw usageError(
      `${flag}: the keys have ${bytes} bytes together, more than ${BULK_BYTES_MAX}`,
      "bring larger maps in with `cadastre import`",
    );
  }
  const sorted = keys.toSorted(compareBytes);
  const repeated = sorted.find((key, at) => bytesEqual(key, sorted[at + 1] ?? EMPTY));
  if (repeated !== undefined) throw refuse(`"${keyText(repeated, kind)}" is given twice`);
  return sorted;
}

/** Equals no split key. */
const EMPTY: Bytes = new Uint8Array(0);
