/** Snapshot files between servers over gRPC: rate, number, refusals, and ends of all kinds. */

import { afterEach, expect, test } from "vitest";
import type { SnapshotFile, SnapshotName, SnapshotSource } from "../../src/replica/ports.ts";
import { MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import {
  collect,
  nameAt,
  publishBytes,
  snapshotSourceConformance,
  type SnapshotServers,
  TWO,
} from "../conformance/snapshot-source.ts";
import {
  closeAll,
  id,
  type Proxy,
  startProxy,
  startServer,
  type StartOptions,
  type TestServer,
  until,
} from "../integration/net/support.ts";

const NEVER = new AbortController().signal;
const proxies: Proxy[] = [];

afterEach(async () => {
  await closeAll();
  for (const proxy of proxies.splice(0)) proxy.close();
});

snapshotSourceConformance(async (): Promise<SnapshotServers> => {
  const store = new MemorySnapshotStore();
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, snapshots: store });
  const one = await startServer({ self: 1, peers: { 2: two.network.address } });
  return {
    source: one.network.snapshotSource,
    store,
    stopServer2: () => two.network.close(),
    close: closeAll,
  };
});

interface Sending {
  readonly two: TestServer;
  readonly store: MemorySnapshotStore;
  readonly sources: readonly SnapshotSource[];
}

/** Server 2 with files, and servers 1, 3 and 4 that ask it. */
async function start(options: Partial<StartOptions> = {}): Promise<Sending> {
  const store = new MemorySnapshotStore();
  const nowhere = "127.0.0.1:1";
  const peers = { 1: nowhere, 3: nowhere, 4: nowhere };
  const two = await startServer({ snapshots: store, ...options, self: 2, peers });
  const sources: SnapshotSource[] = [];
  for (const self of [1, 3, 4]) {
    const one = await startServer({ self, peers: { 2: two.network.address } });
    sources.push(one.network.snapshotSource);
  }
  return { two, store, sources };
}

function sourceAt(sources: readonly SnapshotSource[], at: number): SnapshotSource {
  const source = sources[at];
  if (source === undefined) throw new Error("there are three");
  return source;
}

/** Begins to fetch and reads no further than the first chunk. */
async function hold(
  source: SnapshotSource,
  index: number,
  group = 1,
): Promise<AsyncIterator<unknown>> {
  const request = { name: nameAt(index, group), offset: 0 };
  const chunks = source.fetch(TWO, request, NEVER)[Symbol.asyncIterator]();
  await chunks.next();
  return chunks;
}

test("a server sends two snapshots at once and refuses more, until one has ended", async () => {
  const { two, store, sources } = await start();
  await publishBytes(store, nameAt(9), 8_000_000);
  const held = [await hold(sourceAt(sources, 0), 9), await hold(sourceAt(sources, 1), 9)];
  expect(two.network.snapshotStats().active).toBe(2);
  const third = collect(sourceAt(sources, 2), TWO, nameAt(9));
  await expect(third).rejects.toThrow("enough snapshots are being sent");
  await held[0]?.return?.();
  await until("one has ended", () => two.network.snapshotStats().active === 1);
  expect((await collect(sourceAt(sources, 2), TWO, nameAt(9))).length).toBeGreaterThan(0);
  expect(two.network.snapshotStats()).toMatchObject({ refused: 1, broken: 1, completed: 1 });
  await held[1]?.return?.();
});

test("a receiver that asks again for a group's snapshot has given up its earlier call", async () => {
  const { two, store, sources } = await start();
  await publishBytes(store, nameAt(9), 8_000_000);
  const source = sourceAt(sources, 0);
  const first = await hold(source, 9);
  const second = await hold(source, 9);
  const third = await hold(source, 9);
  await until("the earlier ones have ended", () => two.network.snapshotStats().broken === 2);
  expect(two.network.snapshotStats()).toMatchObject({ active: 1, refused: 0 });
  for (const held of [first, second, third]) await held.return?.();
});

test("snapshots leave at the configured rate, whatever the link could carry", async () => {
  const { two, store, sources } = await start({ snapshotBytesPerSecond: 1_000_000 });
  await publishBytes(store, nameAt(9), 3_000_000);
  const startedAtMs = performance.now();
  await collect(sourceAt(sources, 0), TWO, nameAt(9));
  // A megabyte leaves at once, and the rest takes two seconds at the least.
  expect(performance.now() - startedAtMs).toBeGreaterThan(1_900);
  expect(two.network.snapshotStats().sentBytes).toBe(3_000_004);
});

test("a server of another cluster is refused by name (B14 c)", async () => {
  const store = new MemorySnapshotStore();
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, snapshots: store });
  await publishBytes(store, nameAt(9), 100);
  const peers = { 2: two.network.address };
  const other = await startServer({ self: 1, peers, clusterId: "other" });
  const asked = collect(other.network.snapshotSource, TWO, nameAt(9));
  await expect(asked).rejects.toThrow("cluster mismatch");
  const stranger = await startServer({ self: 9, peers });
  const askedByStranger = collect(stranger.network.snapshotSource, TWO, nameAt(9));
  await expect(askedByStranger).rejects.toThrow("unknown peer: server 9");
  expect(two.log.filter(({ event }) => event === "snapshotRefused")).toHaveLength(2);
  expect(two.network.snapshotStats().sentBytes).toBe(0);
});

test("an offset beyond the file, and a missing file, are told apart", async () => {
  const { store, sources } = await start();
  const file = await publishBytes(store, nameAt(9), 100);
  const source = sourceAt(sources, 0);
  await expect(collect(source, TWO, nameAt(9), file.length)).rejects.toThrow("104 bytes");
  await expect(collect(source, TWO, nameAt(8))).rejects.toThrow("no such snapshot");
});

test("a file that cannot be read ends the call, and the sender says why", async () => {
  const { two, store, sources } = await start();
  await publishBytes(store, nameAt(9), 100);
  store.before = (operation) =>
    operation === "openFile" ? Promise.reject(new Error("bad sector")) : undefined;
  const asked = collect(sourceAt(sources, 0), TWO, nameAt(9));
  await expect(asked).rejects.toThrow("the snapshot cannot be read");
  const line = two.log.find(({ event }) => event === "snapshotSendFailed");
  expect(line?.fields).toMatchObject({ peer: 1, group: 1, index: 9 });
});

test("a peer that accepts and stays silent is given up, and so is its connection", async () => {
  const proxy = await startProxy(undefined);
  proxies.push(proxy);
  const one = await startServer({
    self: 1,
    peers: { 2: proxy.address },
    tuning: { snapshotIdleMs: 100 },
  });
  const before = proxy.connections();
  const asked = collect(one.network.snapshotSource, TWO, nameAt(9));
  await expect(asked).rejects.toThrow("nothing came for 100 ms");
  await until("its connection is gone", () => proxy.connections() <= Math.max(before, 1));
});

test("a receiver that stops to read is given up by the sender", async () => {
  const { two, store, sources } = await start({ tuning: { snapshotIdleMs: 100 } });
  await publishBytes(store, nameAt(9), 8_000_000);
  const held = await hold(sourceAt(sources, 0), 9);
  await until("the sender has given up", () => two.network.snapshotStats().broken === 1);
  expect(two.network.snapshotStats().active).toBe(0);
  await held.return?.();
});

test("however a send ends, its file is closed", async () => {
  const store = new MemorySnapshotStore();
  let open = 0;
  const counting = {
    openFile: async (name: SnapshotName): Promise<SnapshotFile | undefined> => {
      const file = await store.openFile(name);
      if (file === undefined) return undefined;
      open++;
      return { ...file, close: async () => void open-- };
    },
  };
  const { two, sources } = await start({ snapshots: counting });
  await publishBytes(store, nameAt(9), 8_000_000);
  const source = sourceAt(sources, 0);
  await collect(source, TWO, nameAt(9));
  const held = await hold(source, 9);
  expect(open).toBe(1);
  await held.return?.();
  await expect(collect(source, TWO, nameAt(9), 1e9)).rejects.toThrow(Error);
  await until("all are closed", () => open === 0 && two.network.snapshotStats().active === 0);
});

test("a close ends the sends and fetches that are under way, within its time", async () => {
  const { two, store, sources } = await start({ snapshotBytesPerSecond: 300_000 });
  await publishBytes(store, nameAt(9), 8_000_000);
  const asked = collect(sourceAt(sources, 0), TWO, nameAt(9));
  const outcome = asked.then(
    () => "came",
    () => "failed",
  );
  await until("it is sent", () => two.network.snapshotStats().active === 1);
  const startedAtMs = performance.now();
  await two.network.close();
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  expect(await outcome).toBe("failed");
  expect(two.network.snapshotStats().active).toBe(0);
});

test("a fetcher that closes fails its own fetches", async () => {
  const store = new MemorySnapshotStore();
  const two = await startServer({ self: 2, peers: { 1: "127.0.0.1:1" }, snapshots: store });
  const one = await startServer({ self: 1, peers: { 2: two.network.address } });
  await publishBytes(store, nameAt(9), 8_000_000);
  const held = await hold(one.network.snapshotSource, 9);
  await one.network.close();
  const drained = (async () => {
    for (;;) if ((await held.next()).done === true) return;
  })();
  await expect(drained).rejects.toThrow(Error);
  await until("the sender has noticed", () => two.network.snapshotStats().active === 0);
  expect(id.server(2)).toBe(TWO);
});
