/**
 * What replicas rely on from any SnapshotStore: files that are whole or not there, transfers that
 * go on where they stood, removals that spare what is open and what was named.
 *
 * Run on storage/ with real files (test/storage/snapshot-conformance.test.ts) and on
 * testing/memory-snapshots.ts.
 */

import { expect, test } from "vitest";
import type { GroupId } from "../../src/base/brands.ts";
import type { SnapshotName, SnapshotStore } from "../../src/replica/ports.ts";
import { expectSameBytes, nameAt } from "./snapshot-source.ts";

export interface StoreContext {
  readonly store: SnapshotStore;
  /** Another server's. */
  readonly other: SnapshotStore;
  /** The store as the next process finds it; the present one is used no more. */
  readonly reopen: () => SnapshotStore;
}

const GROUP = 1 as GroupId;

function pieces(count: number, bytes = 5_000): Uint8Array[] {
  return Array.from({ length: count }, (_, at) => new Uint8Array(bytes).fill(at + 1));
}

async function write(
  store: SnapshotStore,
  name: SnapshotName,
  parts: readonly Uint8Array[],
): Promise<number> {
  const writer = store.create(name);
  for (const part of parts) await writer.append(part);
  return writer.publish();
}

async function read(store: SnapshotStore, name: SnapshotName): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of store.read(name)) parts.push(part.slice());
  return Buffer.concat(parts);
}

/** The raw bytes of a published file; undefined when there is none. */
async function raw(store: SnapshotStore, name: SnapshotName): Promise<Uint8Array | undefined> {
  const file = await store.openFile(name);
  if (file === undefined) return undefined;
  try {
    const bytes = await file.read(0, file.fileBytes);
    expect(bytes).toHaveLength(file.fileBytes);
    return bytes.slice();
  } finally {
    await file.close();
  }
}

export function snapshotStoreConformance(
  withStores: (run: (context: StoreContext) => Promise<void>) => Promise<void>,
): void {
  test("what was published is read as it was written, whatever the pieces were", async () => {
    await withStores(async ({ store }) => {
      for (const [index, parts] of [pieces(7), pieces(1, 1), pieces(3, 100_000)].entries()) {
        const fileBytes = await write(store, nameAt(index + 1), parts);
        expectSameBytes(await read(store, nameAt(index + 1)), Buffer.concat(parts));
        expect((await raw(store, nameAt(index + 1)))?.length).toBe(fileBytes);
      }
    });
  });

  test("what was not published is not there, also for the next process", async () => {
    await withStores(async ({ store, reopen }) => {
      const writer = store.create(nameAt(5));
      await writer.append(new Uint8Array(100));
      expect(await raw(store, nameAt(5))).toBeUndefined();
      await expect(read(store, nameAt(5))).rejects.toThrow(Error);
      await writer.abort();
      await writer.abort();
      const next = reopen();
      expect(await raw(next, nameAt(5))).toBeUndefined();
      await write(next, nameAt(5), pieces(2));
      expectSameBytes(await read(next, nameAt(5)), Buffer.concat(pieces(2)));
    });
  });

  test("a published file outlives the process, and another one of its name replaces it", async () => {
    await withStores(async ({ store, reopen }) => {
      await write(store, nameAt(5), pieces(2));
      await write(store, nameAt(5), pieces(3));
      expectSameBytes(await read(store, nameAt(5)), Buffer.concat(pieces(3)));
      expectSameBytes(await read(reopen(), nameAt(5)), Buffer.concat(pieces(3)));
    });
  });

  test("a file begun anew drops the group's unfinished one", async () => {
    await withStores(async ({ store }) => {
      await store.create(nameAt(5)).append(new Uint8Array(100));
      await write(store, nameAt(6), pieces(2));
      expect(await raw(store, nameAt(5))).toBeUndefined();
      expectSameBytes(await read(store, nameAt(6)), Buffer.concat(pieces(2)));
    });
  });

  test("a file is received in attempts, over restarts, and is the sender's byte for byte", async () => {
    await withStores(async ({ store, other, reopen }) => {
      await write(other, nameAt(9), pieces(9));
      const bytes = (await raw(other, nameAt(9))) ?? new Uint8Array(0);
      const first = await store.receive(nameAt(9), bytes.length);
      expect(first.offset).toBe(0);
      await first.append(bytes.subarray(0, 1_000));
      await first.suspend();
      const second = await store.receive(nameAt(9), bytes.length);
      expect(second.offset).toBe(1_000);
      await second.append(bytes.subarray(1_000, 30_001));
      await second.suspend();
      const next = reopen();
      const third = await next.receive(nameAt(9), bytes.length);
      expect(third.offset).toBe(30_001);
      expect(await raw(next, nameAt(9))).toBeUndefined();
      await third.append(bytes.subarray(30_001));
      await third.publish();
      expectSameBytes((await raw(next, nameAt(9))) ?? new Uint8Array(0), bytes);
      expectSameBytes(await read(next, nameAt(9)), Buffer.concat(pieces(9)));
    });
  });

  test("a file that came whole, and was not published, is there to the last byte", async () => {
    await withStores(async ({ store, other, reopen }) => {
      await write(other, nameAt(9), pieces(2));
      const bytes = (await raw(other, nameAt(9))) ?? new Uint8Array(0);
      const first = await store.receive(nameAt(9), bytes.length);
      await first.append(bytes);
      await first.suspend();
      const next = reopen();
      const second = await next.receive(nameAt(9), bytes.length);
      expect(second.offset).toBe(bytes.length);
      await second.publish();
      expectSameBytes(await read(next, nameAt(9)), Buffer.concat(pieces(2)));
    });
  });

  test("a received file that is not what was sent is refused, dropped, and can be received anew", async () => {
    await withStores(async ({ store, other }) => {
      await write(other, nameAt(9), pieces(4));
      const bytes = (await raw(other, nameAt(9))) ?? new Uint8Array(0);
      const bad = await store.receive(nameAt(9), bytes.length);
      await bad.append(bytes.map((byte, at) => (at === 6_000 ? byte ^ 4 : byte)));
      await expect(bad.publish()).rejects.toThrow(Error);
      await bad.suspend();
      expect(await raw(store, nameAt(9))).toBeUndefined();
      const good = await store.receive(nameAt(9), bytes.length);
      expect(good.offset).toBe(0);
      await good.append(bytes);
      await good.publish();
      expectSameBytes(await read(store, nameAt(9)), Buffer.concat(pieces(4)));
    });
  });

  test("a removal takes the group's files and received parts, those that it names excepted", async () => {
    await withStores(async ({ store, other }) => {
      for (const index of [3, 5, 7]) await write(store, nameAt(index), pieces(1));
      await write(store, nameAt(3, 11), pieces(1));
      await write(other, nameAt(20), pieces(2));
      const bytes = (await raw(other, nameAt(20))) ?? new Uint8Array(0);
      for (const index of [20, 21]) {
        const receiver = await store.receive(nameAt(index), bytes.length);
        await receiver.append(bytes.subarray(0, 500));
        await receiver.suspend();
      }
      await store.retain(
        GROUP,
        [nameAt(5), nameAt(20), nameAt(99)].map(({ position }) => position),
      );
      const kept: number[] = [];
      for (const index of [3, 5, 7]) {
        if ((await raw(store, nameAt(index))) !== undefined) kept.push(index);
      }
      expect(kept).toEqual([5]);
      expect(await raw(store, nameAt(3, 11))).toBeDefined();
      const offsets: number[] = [];
      for (const index of [20, 21]) {
        const receiver = await store.receive(nameAt(index), bytes.length);
        offsets.push(receiver.offset);
        await receiver.suspend();
      }
      expect(offsets).toEqual([500, 0]);
    });
  });

  test("a file that is open is read to its end although it was removed", async () => {
    await withStores(async ({ store }) => {
      await write(store, nameAt(5), pieces(8));
      const bytes = (await raw(store, nameAt(5))) ?? new Uint8Array(0);
      const file = await store.openFile(nameAt(5));
      await store.retain(GROUP, []);
      const parts: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += 7_000) {
        parts.push((await file?.read(at, 7_000))?.slice() ?? new Uint8Array(0));
      }
      expectSameBytes(Buffer.concat(parts), bytes);
      await file?.close();
      expect(await raw(store, nameAt(5))).toBeUndefined();
    });
  });
}
