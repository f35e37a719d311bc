/**
 * What a replica's fetcher relies on from any SnapshotSource: whole, contiguous bytes of the file
 * that was asked for, and an end, one way or the other.
 *
 * Run on net/ over gRPC (test/net/snapshots.test.ts) and on testing/memory-snapshots.ts.
 */

import { afterEach, expect, test } from "vitest";
import type { GroupId, LogIndex, LogTimeMs, ServerId, Term } from "../../src/base/brands.ts";
import type { SnapshotName, SnapshotSource } from "../../src/replica/ports.ts";
import type { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";

export interface SnapshotServers {
  /** Server 1's, which asks. */
  readonly source: SnapshotSource;
  /** Server 2's files. */
  readonly store: MemorySnapshotStore;
  readonly stopServer2: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const TWO = 2 as ServerId;
const NEVER = new AbortController().signal;

export function nameAt(index: number, group = 1): SnapshotName {
  const position = { index: index as LogIndex, term: 3 as Term, timeMs: 70 as LogTimeMs };
  return { group: group as GroupId, position };
}

/** Publishes a file of about so many bytes and answers its raw bytes. */
export async function publishBytes(
  store: MemorySnapshotStore,
  name: SnapshotName,
  bytes: number,
): Promise<Uint8Array> {
  const writer = store.create(name);
  const body = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) body[at] = (at * 7 + (at >> 8)) % 251;
  await writer.append(body);
  await writer.publish();
  const file = await store.openFile(name);
  if (file === undefined) throw new Error("it was published");
  return file.read(0, file.fileBytes);
}

/** Byte for byte; a difference of large arrays would take minutes to print. */
export function expectSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect([actual.length, Buffer.compare(actual, expected)]).toEqual([expected.length, 0]);
}

/** All bytes from an offset on; checks that they are contiguous. */
export async function collect(
  source: SnapshotSource,
  from: ServerId,
  name: SnapshotName,
  offset = 0,
  signal: AbortSignal = NEVER,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let at = offset;
  for await (const chunk of source.fetch(from, { name, offset }, signal)) {
    expect(chunk.offset).toBe(at);
    expect(chunk.bytes.length).toBeGreaterThan(0);
    at += chunk.bytes.length;
    expect(at).toBeLessThanOrEqual(chunk.fileBytes);
    parts.push(chunk.bytes.slice());
  }
  return new Uint8Array(Buffer.concat(parts));
}

export function snapshotSourceConformance(start: () => Promise<SnapshotServers>): void {
  let servers: SnapshotServers | undefined;

  afterEach(async () => {
    await servers?.close();
    servers = undefined;
  });

  async function started(): Promise<SnapshotServers> {
    servers = await start();
    return servers;
  }

  test("a file arrives whole, and its chunks say how large it is", async () => {
    const { source, store } = await started();
    const file = await publishBytes(store, nameAt(9), 700_000);
    expectSameBytes(await collect(source, TWO, nameAt(9)), file);
    for await (const chunk of source.fetch(TWO, { name: nameAt(9), offset: 0 }, NEVER)) {
      expect(chunk.fileBytes).toBe(file.length);
    }
  });

  test("a file arrives from the offset on that was asked for", async () => {
    const { source, store } = await started();
    const file = await publishBytes(store, nameAt(9), 700_000);
    for (const offset of [1, 262_144, 300_001, file.length - 1]) {
      expectSameBytes(await collect(source, TWO, nameAt(9), offset), file.subarray(offset));
    }
  });

  test("the file is that of the group and position that were asked for", async () => {
    const { source, store } = await started();
    const files = new Map<SnapshotName, Uint8Array>();
    for (const [index, group] of [
      [9, 1],
      [9, 2],
      [10, 1],
    ] as const) {
      const name = nameAt(index, group);
      files.set(name, await publishBytes(store, name, 100 * index + group));
    }
    for (const [name, file] of files) expectSameBytes(await collect(source, TWO, name), file);
  });

  test("a file that is not there is refused", async () => {
    const { source, store } = await started();
    await publishBytes(store, nameAt(9), 100);
    await expect(collect(source, TWO, nameAt(8))).rejects.toThrow(Error);
  });

  test("a file that is removed while it is sent arrives whole", async () => {
    const { source, store } = await started();
    const file = await publishBytes(store, nameAt(9), 700_000);
    const parts: Uint8Array[] = [];
    for await (const { bytes } of source.fetch(TWO, { name: nameAt(9), offset: 0 }, NEVER)) {
      if (parts.length === 0) await store.retain(nameAt(9).group, []);
      parts.push(bytes.slice());
    }
    expectSameBytes(Buffer.concat(parts), file);
    expect(store.published(nameAt(9).group)).toEqual([]);
  });

  test("an unknown server, and one that has stopped, are failures", async () => {
    const { source, store, stopServer2 } = await started();
    await publishBytes(store, nameAt(9), 100);
    await expect(collect(source, 77 as ServerId, nameAt(9))).rejects.toThrow(Error);
    await stopServer2();
    await expect(collect(source, TWO, nameAt(9))).rejects.toThrow(Error);
  });

  test("a server that stops in the middle is a failure, not the file's end", async () => {
    const { source, store, stopServer2 } = await started();
    await publishBytes(store, nameAt(9), 4_000_000);
    let chunks = 0;
    const fetchAll = async (): Promise<void> => {
      for await (const _chunk of source.fetch(TWO, { name: nameAt(9), offset: 0 }, NEVER)) {
        if (chunks++ === 0) await stopServer2();
      }
    };
    await expect(fetchAll()).rejects.toThrow(Error);
    expect(chunks).toBeGreaterThan(0);
  });

  test("an abort ends a fetch at once, before or after its first chunk", async () => {
    const { source, store } = await started();
    await publishBytes(store, nameAt(9), 4_000_000);
    const before = new AbortController();
    before.abort();
    await expect(collect(source, TWO, nameAt(9), 0, before.signal)).rejects.toThrow(Error);
    const during = new AbortController();
    let chunks = 0;
    const fetchAll = async (): Promise<void> => {
      const request = { name: nameAt(9), offset: 0 };
      for await (const _chunk of source.fetch(TWO, request, during.signal)) {
        chunks++;
        during.abort();
      }
    };
    await expect(fetchAll()).rejects.toThrow(Error);
    expect(chunks).toBe(1);
  });
}
