/** The in-memory snapshot store and network: what simulations may rely on. */

import { expect, test } from "vitest";
import type { GroupId, ServerId } from "../../src/base/brands.ts";
import { MemorySnapshotNetwork, MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { nameAt, publishBytes, snapshotSourceConformance } from "../conformance/snapshot-source.ts";
import { snapshotStoreConformance } from "../conformance/snapshot-store.ts";
import { realTimers } from "../integration/net/support.ts";

const GROUP = 1 as GroupId;

snapshotSourceConformance(async () => {
  const stopped = new Set<ServerId>();
  const network = new MemorySnapshotNetwork({
    timers: realTimers,
    reaches: (_to, from) => !stopped.has(from),
    chunkBytes: 200_000,
  });
  const store = new MemorySnapshotStore();
  const source = network.join(1 as ServerId, new MemorySnapshotStore());
  network.join(2 as ServerId, store);
  return {
    source,
    store,
    stopServer2: async () => void stopped.add(2 as ServerId),
    close: async () => {},
  };
});

snapshotStoreConformance(async (run) => {
  const store = new MemorySnapshotStore();
  const reopen = (): MemorySnapshotStore => {
    store.crash();
    return store.reopen();
  };
  await run({ store, other: new MemorySnapshotStore(), reopen });
});

test("a crash loses what was being written and keeps what was received", async () => {
  const store = new MemorySnapshotStore();
  await publishBytes(store, nameAt(5), 10);
  await store.create(nameAt(7)).append(new Uint8Array(10));
  const receiver = await store.receive(nameAt(9), 30);
  await receiver.append(new Uint8Array(20));
  store.crash();
  const next = store.reopen();
  expect([next.published(GROUP), next.received(GROUP)]).toEqual([[5], [9]]);
  expect((await next.receive(nameAt(9), 30)).offset).toBe(20);
  // Another size is another file.
  expect((await next.receive(nameAt(9), 31)).offset).toBe(0);
});

test("an operation that is under way when the process dies never ends", async () => {
  const store = new MemorySnapshotStore();
  const ended: string[] = [];
  const writer = store.create(nameAt(5));
  await writer.append(new Uint8Array(3));
  void writer.publish().then(() => ended.push("published"));
  store.crash();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect([ended, store.reopen().published(GROUP)]).toEqual([[], []]);
});

test("what is read was checked, and what was received is checked when it is whole", async () => {
  const store = new MemorySnapshotStore();
  const file = await publishBytes(store, nameAt(5), 100);
  store.damage(nameAt(5));
  const read = async (): Promise<void> => {
    for await (const _piece of store.read(nameAt(5)));
  };
  await expect(read()).rejects.toThrow("its checksum does not match");
  const receiver = await store.receive(nameAt(6), file.length);
  await receiver.append(file.map((byte, at) => (at === 50 ? byte ^ 1 : byte)));
  await expect(receiver.publish()).rejects.toThrow("it was not received whole");
  expect([store.published(GROUP), store.received(GROUP)]).toEqual([[5], []]);
});

test("a group's files are kept apart from another's", async () => {
  const store = new MemorySnapshotStore();
  for (const [index, group] of [
    [5, 1],
    [5, 11],
    [6, 1],
  ] as const) {
    await publishBytes(store, nameAt(index, group), 10);
  }
  await store.retain(GROUP, [nameAt(6).position]);
  expect([store.published(GROUP), store.published(11 as GroupId)]).toEqual([[6], [5]]);
});
