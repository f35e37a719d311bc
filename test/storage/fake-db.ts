/**
 * A database that keeps nothing and finishes what it was asked to do when the test says so.
 */

import { expect } from "vitest";
import { type Bytes, bytesToHex } from "../../src/base/bytes.ts";
import type { KeyValueStore, SyncedBatch } from "../../src/storage/level-db.ts";

/** Something under way. */
export class FakeCall {
  succeed: () => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  readonly done: Promise<void>;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
  }
}

export class FakeDb implements KeyValueStore {
  readonly writes: FakeBatch[] = [];
  /** Unsynced deletions, with their keys. */
  readonly deletions: (FakeCall & { keys?: readonly string[] })[] = [];
  /** Compactions, with the range from and to. */
  readonly compactions: (FakeCall & { range?: string })[] = [];
  isClosed = false;

  openBatch(): SyncedBatch {
    return new FakeBatch(this.writes);
  }

  deleteUnsynced(keys: readonly Bytes[]): Promise<void> {
    const call = Object.assign(new FakeCall(), { keys: keys.map(bytesToHex) });
    this.deletions.push(call);
    return call.done;
  }

  compact(firstKey: Bytes, lastKey: Bytes): Promise<void> {
    const range = `${bytesToHex(firstKey)} to ${bytesToHex(lastKey)}`;
    const call = Object.assign(new FakeCall(), { range });
    this.compactions.push(call);
    return call.done;
  }

  async *scan(): AsyncGenerator<never[]> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** The write that was started last. */
  get last(): FakeBatch {
    return this.writes.at(-1) ?? expect.fail("no write was started");
  }
}

export class FakeBatch extends FakeCall implements SyncedBatch {
  readonly changes: string[] = [];
  readonly values = new Map<string, Bytes>();
  readonly #started: FakeBatch[];

  constructor(started: FakeBatch[]) {
    super();
    this.#started = started;
  }

  put(key: Bytes, value: Bytes): void {
    this.changes.push(`put ${bytesToHex(key)}`);
    this.values.set(bytesToHex(key), value);
  }

  delete(key: Bytes): void {
    this.changes.push(`delete ${bytesToHex(key)}`);
  }

  write(): Promise<void> {
    this.#started.push(this);
    return this.done;
  }
}

/** Lets promises settle. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
