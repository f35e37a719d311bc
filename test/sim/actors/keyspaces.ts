/**
 * The keyspaces of the simulation and the keys that are looked at: one in each range, its first.
 */

import { type Bytes, bytesToHex, utf8ToBytes } from "../../../src/base/bytes.ts";

/** Ranges begin at the empty key and at these. */
export const SPLIT_KEYS = ["d", "h", "m", "r"] as const;

/** One key of a range, under a name. */
export interface SampleKey {
  readonly keyspace: string;
  readonly key: Bytes;
  readonly name: string;
}

export function sampleKey(keyspace: string, startKey: Bytes): SampleKey {
  return { keyspace, key: startKey, name: `${keyspace}/${bytesToHex(startKey)}` };
}

/** The keys that are known to everybody. */
export class SampleKeys {
  readonly all: SampleKey[] = [];
  readonly keyspaces: string[] = [];

  add(keyspace: string, splitKeys: readonly string[] = SPLIT_KEYS): void {
    this.keyspaces.push(keyspace);
    for (const start of ["", ...splitKeys]) this.all.push(sampleKey(keyspace, utf8ToBytes(start)));
  }
}
