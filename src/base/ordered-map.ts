/**
 * An ordered map: chunks of sorted keys, found by binary search. All machine state lives in these,
 * because the iteration order of Map is that of insertion and differs between a replica that
 * replayed the log and one that started from a snapshot.
 *
 * Invariants: chunks are never empty (but for an empty map's single one), hold at most
 * CHUNK_ENTRIES_MAX entries, and keys strictly increase within and across chunks.
 * Cost: O(log n) look-up, O(log n + CHUNK_ENTRIES_MAX) insertion and removal.
 * A map must not be changed while it is iterated; a frozen view of it may be read all the same.
 */

import { assert, defined } from "./assert.ts";
import { type Bytes, compareBytes } from "./bytes.ts";

const CHUNK_ENTRIES_MAX = 256;

interface Chunk<K, V> {
  readonly keys: K[];
  readonly values: V[];
  /** How often the map had been frozen when this chunk was made: later views hold it, too. */
  readonly freezes: number;
}

/** The entries of a map as they were at one moment. */
export interface FrozenMap<K, V> {
  readonly size: number;
  entries(): Generator<[K, V]>;
  /** The map keeps no more what the view needs. Nothing may be read from it then. Idempotent. */
  close(): void;
}

export class OrderedMap<K, V> {
  readonly #compare: (a: K, b: K) => number;
  #chunks: Chunk<K, V>[] = [{ keys: [], values: [], freezes: 0 }];
  #size = 0;
  #freezes = 0;
  #openViews = 0;

  constructor(compare: (a: K, b: K) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    const chunk = this.#chunks[this.#chunkFor(key)] as Chunk<K, V>;
    const at = this.#lowerBound(chunk.keys, key);
    const found = chunk.keys[at];
    return at < chunk.keys.length && this.#compare(found as K, key) === 0
      ? chunk.values[at]
      : undefined;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds or replaces. Values must not be undefined: that is what get() answers for a miss. */
  set(key: K, value: V): void {
    assert(value !== undefined, "an ordered map holds no undefined values");
    if (this.#isAboveAll(key)) return this.#append(key, value);
    const chunkIndex = this.#chunkFor(key);
    const chunk = this.#chunkToChange(chunkIndex);
    const at = this.#lowerBound(chunk.keys, key);
    if (at < chunk.keys.length && this.#compare(chunk.keys[at] as K, key) === 0) {
      chunk.keys[at] = key;
      chunk.values[at] = value;
      return;
    }
    chunk.keys.splice(at, 0, key);
    chunk.values.splice(at, 0, value);
    this.#size++;
    if (chunk.keys.length > CHUNK_ENTRIES_MAX) this.#splitChunk(chunkIndex);
  }

  /** Removes; answers whether the key was there. */
  delete(key: K): boolean {
    const chunkIndex = this.#chunkFor(key);
    const { keys } = this.#chunks[chunkIndex] as Chunk<K, V>;
    const at = this.#lowerBound(keys, key);
    if (at >= keys.length || this.#compare(keys[at] as K, key) !== 0) return false;
    const chunk = this.#chunkToChange(chunkIndex);
    chunk.keys.splice(at, 1);
    chunk.values.splice(at, 1);
    this.#size--;
    if (chunk.keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(chunkIndex, 1);
    return true;
  }

  clear(): void {
    this.#chunks = [{ keys: [], values: [], freezes: this.#freezes }];
    this.#size = 0;
  }

  /**
   * The present entries, whatever is set or deleted later. O(chunks); while a view is open, each
   * chunk is copied once, before its first change. Values that change in place change in the view.
   */
  freeze(): FrozenMap<K, V> {
    const chunks = this.#chunks.slice();
    const size = this.#size;
    this.#freezes++;
    this.#openViews++;
    let isOpen = true;
    return {
      size,
      entries: () => entriesOf(chunks),
      close: () => {
        if (isOpen) this.#openViews--;
        isOpen = false;
      },
    };
  }

  /** The entry with the largest key <= the given one. */
  floor(key: K): readonly [K, V] | undefined {
    const chunk = this.#chunks[this.#chunkFor(key)] as Chunk<K, V>;
    const at = this.#lowerBound(chunk.keys, key);
    if (at < chunk.keys.length && this.#compare(chunk.keys[at] as K, key) === 0) {
      return entryAt(chunk, at);
    }
    // The chunk's first key is at or below the key, unless all keys are above it.
    return at === 0 ? undefined : entryAt(chunk, at - 1);
  }

  first(): readonly [K, V] | undefined {
    const chunk = defined(this.#chunks[0], "an ordered map has a chunk");
    return chunk.keys.length === 0 ? undefined : entryAt(chunk, 0);
  }

  last(): readonly [K, V] | undefined {
    const chunk = defined(this.#chunks.at(-1), "an ordered map has a chunk");
    return chunk.keys.length === 0 ? undefined : entryAt(chunk, chunk.keys.length - 1);
  }

  /** Entries in key order, from the first key >= from (or > from) on. */
  *entriesFrom(from: K, bound: "inclusive" | "exclusive" = "inclusive"): Generator<[K, V]> {
    let chunkIndex = this.#chunkFor(from);
    let at = this.#lowerBound((this.#chunks[chunkIndex] as Chunk<K, V>).keys, from);
    for (; chunkIndex < this.#chunks.length; chunkIndex++, at = 0) {
      const chunk = this.#chunks[chunkIndex] as Chunk<K, V>;
      for (; at < chunk.keys.length; at++) {
        const key = chunk.keys[at] as K;
        if (bound === "exclusive" && this.#compare(key, from) === 0) continue;
        yield [key, chunk.values[at] as V];
      }
    }
  }

  entries(): Generator<[K, V]> {
    return entriesOf(this.#chunks);
  }

  *keys(): Generator<K> {
    for (const chunk of this.#chunks) yield* chunk.keys;
  }

  *values(): Generator<V> {
    for (const chunk of this.#chunks) yield* chunk.values;
  }

  #isAboveAll(key: K): boolean {
    const { keys } = this.#chunks[this.#chunks.length - 1] as Chunk<K, V>;
    return keys.length === 0 || this.#compare(keys[keys.length - 1] as K, key) < 0;
  }

  /** Whole maps are loaded in order: that takes one comparison a key instead of twenty. */
  #append(key: K, value: V): void {
    const chunkIndex = this.#chunks.length - 1;
    const chunk = this.#chunkToChange(chunkIndex);
    chunk.keys.push(key);
    chunk.values.push(value);
    this.#size++;
    if (chunk.keys.length > CHUNK_ENTRIES_MAX) this.#splitChunk(chunkIndex);
  }

  /** The last chunk whose first key is <= key, or the first chunk. */
  #chunkFor(key: K): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const firstKey = (this.#chunks[middle] as Chunk<K, V>).keys[0] as K;
      if (this.#compare(firstKey, key) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The first position whose key is >= key. */
  #lowerBound(keys: readonly K[], key: K): number {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(keys[middle] as K, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #splitChunk(chunkIndex: number): void {
    const chunk = this.#chunkToChange(chunkIndex);
    // Ascending loads fill chunks to the brim instead of leaving all of them half full.
    const isLast = chunkIndex === this.#chunks.length - 1;
    const at = isLast ? CHUNK_ENTRIES_MAX : chunk.keys.length >> 1;
    const keys = chunk.keys.splice(at);
    const values = chunk.values.splice(at);
    this.#chunks.splice(chunkIndex + 1, 0, { keys, values, freezes: this.#freezes });
  }

  /** The chunk itself, or a copy in its place when an open view may hold it. */
  #chunkToChange(chunkIndex: number): Chunk<K, V> {
    const chunk = this.#chunks[chunkIndex] as Chunk<K, V>;
    if (this.#openViews === 0 || chunk.freezes === this.#freezes) return chunk;
    const { keys, values } = chunk;
    const copy = { keys: keys.slice(), values: values.slice(), freezes: this.#freezes };
    this.#chunks[chunkIndex] = copy;
    return copy;
  }
}

export function bytesMap<V>(): OrderedMap<Bytes, V> {
  return new OrderedMap<Bytes, V>(compareBytes);
}

export function numberMap<K extends number, V>(): OrderedMap<K, V> {
  return new OrderedMap<K, V>((a, b) => a - b);
}

/** Ordered by UTF-16 code units, like `<`: the same on every machine and in every locale. */
export function stringMap<V>(): OrderedMap<string, V> {
  return new OrderedMap<string, V>(compareStrings);
}

export function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function* entriesOf<K, V>(chunks: readonly Chunk<K, V>[]): Generator<[K, V]> {
  for (const { keys, values } of chunks) {
    for (let at = 0; at < keys.length; at++) yield [keys[at] as K, values[at] as V];
  }
}

function entryAt<K, V>(chunk: Chunk<K, V>, at: number): readonly [K, V] {
  return [chunk.keys[at] as K, chunk.values[at] as V];
}
