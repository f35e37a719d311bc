/** What is fetched, when it is given up, and that nobody waits for ever. */

import { expect, test } from "vitest";
import type { LogIndex, ServerId } from "../../src/base/brands.ts";
import { LOG_START, type LogPosition } from "../../src/raft/types.ts";
import type { SnapshotSource } from "../../src/replica/ports.ts";
import { SnapshotFetcher } from "../../src/replica/snapshot-fetcher.ts";
import { SnapshotKeeper } from "../../src/replica/snapshot-keeper.ts";
import { MemorySnapshotNetwork, MemorySnapshotStore } from "../../src/testing/memory-snapshots.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { CountingMachine } from "./counting-machine.ts";
import { Gate } from "./gate.ts";
import { GROUP } from "./lone-replica.ts";
import {
  at,
  cutBytes,
  failing,
  machineAt,
  publish,
  RecordingLogger,
  replicaId,
} from "./snapshot-support.ts";

const [SELF, LEADER, OTHER] = [1, 2, 3].map((id) => id as ServerId) as [
  ServerId,
  ServerId,
  ServerId,
];
const CHUNK_BYTES = 16;

class Fixture {
  readonly clock = new VirtualClock();
  readonly logger = new RecordingLogger();
  readonly cut = new Set<ServerId>();
  readonly network = new MemorySnapshotNetwork({
    timers: this.clock,
    reaches: (_to, from) => !this.cut.has(from),
    chunkBytes: CHUNK_BYTES,
  });
  readonly peers = new Map(
    [LEADER, OTHER].map((id) => {
      const store = new MemorySnapshotStore();
      this.network.join(id, store);
      return [id, store];
    }),
  );
  readonly machine = new CountingMachine(GROUP);
  /** What was asked for, as "server index offset". */
  readonly asked: string[] = [];
  readonly told: string[] = [];
  readonly fetched: LogPosition[] = [];
  readonly store: MemorySnapshotStore;
  readonly files: SnapshotKeeper;
  readonly fetcher: SnapshotFetcher;

  constructor(options: { readonly store?: MemorySnapshotStore; source?: SnapshotSource } = {}) {
    const { clock, machine, logger } = this;
    this.store = options.store ?? new MemorySnapshotStore();
    const inner = options.source ?? this.network.join(SELF, this.store);
    const source: SnapshotSource = {
      fetch: (from, request, signal) => {
        this.asked.push(`${from} ${request.name.position.index} ${request.offset}`);
        return inner.fetch(from, request, signal);
      },
    };
    this.files = new SnapshotKeeper({
      group: GROUP,
      store: this.store,
      logger,
      inUse: () => [],
      durable: LOG_START,
    });
    this.fetcher = new SnapshotFetcher({
      group: GROUP,
      machine,
      files: this.files,
      source,
      serverOf: (replica) => replica as number as ServerId,
      clock,
      timers: clock,
      logger,
      onDecoding: () => void this.told.push("decoding"),
      onDropped: () => void this.told.push("dropped"),
      onFetched: (position) => void this.fetched.push(position),
    });
  }

  /** The peer has a snapshot of that many entries. */
  async publish(index: number, peer = LEADER): Promise<number> {
    const store = this.peers.get(peer);
    if (store === undefined) throw new Error("a peer");
    return publish(store, machineAt(GROUP, index), at(index));
  }

  offer(index: number, from: ServerId = LEADER): void {
    this.fetcher.offered(replicaId(from), at(index));
  }

  get fetchedAt(): number[] {
    return this.fetched.map(({ index }) => index);
  }
}

test("an offer is fetched once, decoded beside the live machine, and handed to the core", async () => {
  const fixture = new Fixture();
  const { clock, fetcher, machine, store } = fixture;
  await fixture.publish(7);
  for (let repeat = 0; repeat < 3; repeat++) fixture.offer(7);
  await clock.advance(5);
  fixture.offer(7);
  await clock.advance(200);
  expect([fixture.asked, fixture.fetchedAt]).toEqual([["2 7 0"], [7]]);
  expect(store.published(GROUP)).toEqual([7]);
  expect(machine.total).toBe(0);
  fetcher.judged(true);
  const { restore, fileBytes } = fetcher.take(at(7));
  expect(restore.finish().ok).toBe(true);
  expect(machine.digest()).toBe(machineAt(GROUP, 7).digest());
  expect(fileBytes).toBeGreaterThan(CHUNK_BYTES);
  expect([fixture.told, fetcher.stats.installed]).toEqual([["decoding"], 1]);
});

test("what the core has no use for is dropped with its file (B13)", async () => {
  const fixture = new Fixture();
  await fixture.publish(7);
  fixture.offer(7);
  await fixture.clock.advance(200);
  fixture.fetcher.judged(false);
  await fixture.clock.settle();
  expect(fixture.store.published(GROUP)).toEqual([]);
  expect(fixture.told).toEqual(["decoding", "dropped"]);
  expect(fixture.machine.total).toBe(0);
});

test("nothing else is fetched while a snapshot waits to be installed", async () => {
  const fixture = new Fixture();
  await fixture.publish(7);
  await fixture.publish(9);
  fixture.offer(7);
  await fixture.clock.advance(200);
  fixture.fetcher.judged(true);
  fixture.offer(9);
  await fixture.clock.advance(200);
  expect(fixture.asked).toEqual(["2 7 0"]);
  fixture.fetcher.take(at(7));
  fixture.offer(9);
  await fixture.clock.advance(200);
  expect(fixture.fetchedAt).toEqual([7, 9]);
});

test("an interrupted fetch goes on where it stood, with the next offer after its pause", async () => {
  const fixture = new Fixture();
  const { clock, fetcher, logger, cut } = fixture;
  await fixture.publish(20);
  fixture.offer(20);
  await clock.advance(3);
  cut.add(LEADER);
  await clock.advance(10);
  expect(fetcher.stats.failed).toBe(1);
  // Three chunks are here; offers before the pause is over change nothing.
  expect(fetcher.stats.receivedBytes).toBe(3 * CHUNK_BYTES);
  cut.clear();
  fixture.offer(20);
  await clock.advance(100);
  expect(fixture.asked).toEqual(["2 20 0"]);
  await clock.advance(100);
  expect(fixture.asked).toEqual(["2 20 0"]);
  fixture.offer(20);
  await clock.advance(200);
  // The first chunk tells the size; then the rest is asked for.
  expect(fixture.asked).toEqual(["2 20 0", "2 20 0", `2 20 ${3 * CHUNK_BYTES}`]);
  expect(fixture.fetchedAt).toEqual([20]);
  expect(logger.lines).toEqual(["warn snapshotFetchFailed"]);
});

test("pauses grow while a fetch fails again and again, and only the first is worth a line", async () => {
  const fixture = new Fixture();
  const { clock, fetcher, logger } = fixture;
  const failures: number[] = [];
  for (let passed = 0; passed <= 10_000; passed += 50) {
    const before = fetcher.stats.failed;
    fixture.offer(7);
    await clock.advance(50);
    if (fetcher.stats.failed > before) failures.push(passed);
  }
  expect(failures).toEqual([0, 200, 600, 1_400, 3_000, 6_200]);
  expect(logger.lines).toEqual(["warn snapshotFetchFailed"]);
});

test("a restarted process keeps what its predecessor received (B13 b, c)", async () => {
  const before = new Fixture();
  await before.publish(20);
  before.offer(20);
  await before.clock.advance(3);
  before.store.crash();
  expect(before.store.received(GROUP)).toEqual([20]);
  const after = new Fixture({ store: before.store.reopen() });
  await after.publish(20);
  after.offer(20);
  await after.clock.advance(200);
  expect(after.asked).toEqual(["2 20 0", `2 20 ${3 * CHUNK_BYTES}`]);
  expect(after.fetchedAt).toEqual([20]);
});

test("a file that had come whole and had no name yet when the process died gets its name", async () => {
  const before = new Fixture();
  await before.publish(20);
  const gate = new Gate(before.store, "receivePublish");
  before.offer(20);
  await before.clock.advance(300);
  expect(gate.count).toBe(1);
  before.store.crash();
  const after = new Fixture({ store: before.store.reopen() });
  await after.publish(20);
  after.offer(20);
  await after.clock.advance(300);
  expect([after.asked, after.fetchedAt]).toEqual([["2 20 0"], [20]]);
});

test("a file that was whole when the process ended is not fetched again", async () => {
  const store = new MemorySnapshotStore();
  await publish(store, machineAt(GROUP, 7), at(7));
  const fixture = new Fixture({ store });
  fixture.offer(7);
  await fixture.clock.settle();
  expect([fixture.asked, fixture.fetchedAt]).toEqual([[], [7]]);
});

test("a newer offer of the same leader takes the place of an older one", async () => {
  const fixture = new Fixture();
  await fixture.publish(20);
  await fixture.publish(30);
  fixture.offer(20);
  await fixture.clock.advance(3);
  fixture.offer(30);
  await fixture.clock.advance(300);
  expect([fixture.asked, fixture.fetchedAt]).toEqual([["2 20 0", "2 30 0"], [30]]);
});

test("an older offer that comes after a newer one of the same leader is ignored", async () => {
  const fixture = new Fixture();
  await fixture.publish(20);
  await fixture.publish(30);
  fixture.offer(30);
  await fixture.clock.advance(3);
  fixture.offer(20);
  await fixture.clock.advance(300);
  expect([fixture.asked, fixture.fetchedAt]).toEqual([["2 30 0"], [30]]);
});

test("another leader's offer counts, also an earlier one, and the former is given up", async () => {
  const fixture = new Fixture();
  await fixture.publish(30);
  await fixture.publish(20, OTHER);
  fixture.offer(30);
  await fixture.clock.advance(3);
  fixture.offer(20, OTHER);
  await fixture.clock.advance(300);
  expect([fixture.asked, fixture.fetchedAt]).toEqual([["2 30 0", "3 20 0"], [20]]);
});

test("another leader's offer does not wait for the pause after the former's failures", async () => {
  const fixture = new Fixture();
  await fixture.publish(20, OTHER);
  for (let round = 0; round < 4; round++) {
    fixture.offer(20);
    await fixture.clock.advance(1_000);
  }
  fixture.offer(20);
  await fixture.clock.settle();
  expect(fixture.fetcher.stats.failed).toBeGreaterThan(2);
  fixture.offer(20, OTHER);
  await fixture.clock.advance(50);
  expect(fixture.fetchedAt).toEqual([20]);
});

test("another leader's offer of the same snapshot goes on with what is here", async () => {
  const fixture = new Fixture();
  await fixture.publish(20);
  await fixture.publish(20, OTHER);
  fixture.offer(20);
  await fixture.clock.advance(3);
  fixture.offer(20, OTHER);
  await fixture.clock.advance(300);
  expect(fixture.asked).toEqual(["2 20 0", "3 20 0", `3 20 ${3 * CHUNK_BYTES}`]);
  expect(fixture.fetchedAt).toEqual([20]);
});

test("a fetch that is no longer offered is given up", async () => {
  const clock = new VirtualClock();
  const fixture = new Fixture();
  await fixture.publish(20);
  const gate = new Gate(fixture.store, "receiveAppend");
  fixture.offer(20);
  await fixture.clock.advance(9_000);
  fixture.fetcher.tick(0 as LogIndex);
  gate.next();
  await fixture.clock.advance(2_000);
  fixture.fetcher.tick(0 as LogIndex);
  gate.open();
  await fixture.fetcher.settled();
  expect([fixture.fetchedAt, fixture.fetcher.stats.failed]).toEqual([[], 0]);
  expect(clock.pendingCount).toBe(0);
  // It may come back, and then goes on.
  fixture.offer(20);
  await fixture.clock.advance(300);
  expect(fixture.fetchedAt).toEqual([20]);
});

test("a fetch that the log has overtaken is given up (B13 a)", async () => {
  const fixture = new Fixture();
  await fixture.publish(20);
  fixture.offer(20);
  await fixture.clock.advance(3);
  fixture.fetcher.tick(19 as LogIndex);
  fixture.fetcher.tick(20 as LogIndex);
  await fixture.clock.advance(300);
  expect([fixture.fetchedAt, fixture.fetcher.stats.failed]).toEqual([[], 0]);
});

test("a peer that accepts and says nothing is given up after a while (nebula #1769)", async () => {
  const silent: SnapshotSource = {
    async *fetch() {
      await new Promise(() => {});
      yield* [];
    },
  };
  const fixture = new Fixture({ source: silent });
  fixture.offer(20);
  for (let passed = 0; passed < 9_000; passed += 1_000) {
    await fixture.clock.advance(1_000);
    fixture.offer(20);
  }
  expect(fixture.fetcher.stats.failed).toBe(0);
  await fixture.clock.advance(1_000);
  expect(fixture.fetcher.stats.failed).toBe(1);
  await fixture.clock.advance(200);
  fixture.offer(20);
  await fixture.clock.settle();
  expect(fixture.asked).toHaveLength(2);
});

test("a damaged file is dropped when it is whole, and fetched anew", async () => {
  const fixture = new Fixture();
  const { clock, fetcher, peers } = fixture;
  await fixture.publish(20);
  peers.get(LEADER)?.damage({ group: GROUP, position: at(20) });
  fixture.offer(20);
  await clock.advance(300);
  expect([fetcher.stats.failed, fixture.store.received(GROUP)]).toEqual([1, []]);
  await fixture.publish(20);
  fixture.offer(20);
  await clock.advance(300);
  expect([fixture.asked, fixture.fetchedAt]).toEqual([["2 20 0", "2 20 0"], [20]]);
});

test("a snapshot that this version cannot read is not kept, and nothing is touched", async () => {
  const fixture = new Fixture();
  const { clock, fetcher, machine, logger } = fixture;
  machine.version = 2;
  await fixture.publish(20);
  fixture.offer(20);
  await clock.advance(300);
  expect(fixture.fetchedAt).toEqual([]);
  expect([fetcher.stats.failed, machine.total]).toEqual([1, 0]);
  expect([fixture.told, fixture.store.published(GROUP)]).toEqual([["decoding", "dropped"], []]);
  expect(logger.lines).toEqual(["warn snapshotFetchFailed"]);
});

test("a snapshot that ends too early is found before anybody relies on it", async () => {
  const fixture = new Fixture();
  const [first] = cutBytes(machineAt(GROUP, 20));
  const writer = fixture.peers.get(LEADER)?.create({ group: GROUP, position: at(20) });
  if (first === undefined || writer === undefined) throw new Error("there is a piece");
  await writer.append(first);
  await writer.publish();
  fixture.offer(20);
  await fixture.clock.advance(300);
  expect([fixture.fetchedAt, fixture.fetcher.stats.failed]).toEqual([[], 1]);
  expect(fixture.store.published(GROUP)).toEqual([]);
});

test("a full disk fails a fetch, which is tried again", async () => {
  const fixture = new Fixture();
  const { clock, fetcher } = fixture;
  await fixture.publish(20);
  fixture.store.before = failing("receiveAppend");
  fixture.offer(20);
  await clock.advance(10);
  expect(fetcher.stats.failed).toBe(1);
  fixture.store.before = () => undefined;
  await clock.advance(200);
  fixture.offer(20);
  await clock.advance(300);
  expect(fixture.fetchedAt).toEqual([20]);
});

test.each([
  ["another place", { offset: 5 }, "a chunk at 5 of 40 came at 0"],
  ["more than the file has", { bytes: new Uint8Array(41) }, "more came than the file has"],
])("a peer that sends %s is refused", async (_what, chunk, message) => {
  const errors: (Error | undefined)[] = [];
  const source: SnapshotSource = {
    async *fetch() {
      yield { fileBytes: 40, offset: 0, bytes: new Uint8Array(8), ...chunk };
    },
  };
  const fixture = new Fixture({ source });
  fixture.logger.warn = (_event: string, fields?: Readonly<Record<string, unknown>>) =>
    void errors.push(fields?.["error"] as Error | undefined);
  fixture.offer(20);
  await fixture.clock.settle();
  expect(errors.map((error) => error?.message)).toEqual([message]);
});

test.each(["openFile", "receive", "receiveAppend", "receivePublish", "read"] as const)(
  "a stop in the middle of %s ends the fetch, and keeps what was received",
  async (operation) => {
    const fixture = new Fixture();
    const { clock, fetcher } = fixture;
    await fixture.publish(20);
    const gate = new Gate(fixture.store, operation);
    fixture.offer(20);
    await clock.advance(300);
    expect(gate.count).toBe(1);
    fetcher.stop();
    gate.open();
    await fetcher.settled();
    fixture.offer(20);
    await clock.advance(300);
    expect([fixture.fetchedAt, fetcher.stats.failed, clock.pendingCount]).toEqual([[], 0, 0]);
    const kept = [...fixture.store.received(GROUP), ...fixture.store.published(GROUP)];
    expect(kept).toEqual(operation === "openFile" ? [] : [20]);
  },
);
