/**
 * B05: thousands of leases must not turn a change of leaders into a cliff. The machine alone, with
 * the leader's rule of proposing Expire at a tick, and only when something is due.
 */

import { expect, test, vi } from "vitest";
import type { Incarnation, LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import { DueQueue } from "../../../src/machine/shard/due-queue.ts";
import { checkShard } from "../../../src/machine/shard/invariants.ts";
import { deadlineMs } from "../../../src/machine/shard/leases.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import { grantItem, GROUP } from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

const RANGES = 2_000;
const OWNERS = ["a", "b", "c", "d"];
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
const TICK_MS = 50;
const GRACE_MS = 4_000;

/** A shard with its leader's ticks, and renewals that are staggered over the interval. */
class BusyShard {
  readonly machine = new ShardMachine(GROUP);
  timeMs = 0;
  entries = 0;
  expires = 0;
  /** Renewals stop. */
  areOwnersDead = false;
  readonly endedAtMs: number[] = [];

  constructor() {
    const terms = { leaseDurationMs: LEASE_MS, renewIntervalMs: RENEW_MS } as const;
    const kinds = { leaseMode: "exclusive", dataKind: "local" } as const;
    const keyspace = { keyspaceId: 1, name: "orders", ...terms, ...kinds };
    this.apply({ kind: "createKeyspace", terms: keyspace });
    const key = (at: number): Uint8Array => utf8ToBytes(String(at).padStart(5, "0"));
    const splitKeys = Array.from({ length: RANGES - 1 }, (_, at) => key(at + 1));
    this.apply({ kind: "defineRanges", keyspaceId: 1, splitKeys });
    const incarnation = 1 as Incarnation;
    const unproven = { incarnation, provenSince: incarnation, addresses: [] };
    for (const nodeId of OWNERS) this.apply({ kind: "openSession", nodeId, ...unproven });
    const items = [...this.machine.state.rangesById.values()].map(({ record }, at) =>
      grantItem(record, OWNERS[at % OWNERS.length] as string),
    );
    this.apply({ kind: "grant", items, onlyUnowned: true, handOver: false });
  }

  get ownedCount(): number {
    const { keyspaces } = this.machine.state;
    return RANGES - (keyspaces.get(1)?.unownedCount ?? 0);
  }

  apply(command: ShardCommand | undefined): void {
    const index = ++this.entries as LogIndex;
    const meta = { index, term: 1 as Term, timeMs: this.timeMs as LogTimeMs };
    const request = command === undefined ? undefined : { requestId: undefined, command };
    const { events } = this.machine.apply(meta, request);
    for (const { cause, changes } of events) {
      if (cause === "expired") this.endedAtMs.push(...changes.map(() => this.timeMs));
    }
  }

  /** What owners and the leader do in so much time. */
  pass(ms: number): void {
    for (const endMs = this.timeMs + ms; this.timeMs < endMs;) {
      this.timeMs += TICK_MS;
      for (const [at, nodeId] of OWNERS.entries()) {
        const isItsTurn = (this.timeMs - at * 700) % RENEW_MS === 0;
        if (this.areOwnersDead || !isItsTurn) continue;
        const renewal = { nodeId, incarnation: 1 as Incarnation, except: [], ...SENT_AGAIN };
        const asOf = this.machine.revision as Revision;
        this.apply({ kind: "renew", renewals: [{ ...renewal, asOf }] });
      }
      const dueMs = this.machine.nextDueMs();
      if (dueMs === undefined || dueMs > this.timeMs) continue;
      this.expires++;
      this.apply({ kind: "expire" });
    }
  }
}

test("B05: renewals of 2,000 leases by 4 owners are 4 entries an interval, and no Expire", () => {
  const shard = new BusyShard();
  shard.pass(LEASE_MS);
  const { entries } = shard;
  shard.pass(10 * RENEW_MS);
  expect(shard.entries - entries).toBe(10 * OWNERS.length);
  expect(shard.expires).toBe(0);
  expect(shard.ownedCount).toBe(RANGES);
});

test("renewals leave nothing in the queue of what may be due, however long leases last", () => {
  const shard = new BusyShard();
  // What is due first stays so: nothing behind it has its turn.
  const incarnation = 1 as Incarnation;
  const idle = { nodeId: "idle", incarnation, provenSince: incarnation, addresses: [] };
  shard.apply({ kind: "openSession", ...idle });
  shard.pass(RENEW_MS);
  const { due } = shard.machine.state;
  const { size } = due;
  shard.pass(2 * RENEW_MS);
  expect(due.size).toBe(size);
});

test("B05: a change of leaders costs the same with 2,000 leases, and re-dates none", () => {
  const shard = new BusyShard();
  shard.pass(20_000);
  const { state } = shard.machine;
  const ends = (): number[] => [...state.rangesById.values()].map((s) => deadlineMs(state, s));
  const before = ends();
  const queued = vi.spyOn(DueQueue.prototype, "add");
  const size = state.due.size;
  shard.apply(undefined);
  expect(shard.machine.nextDueMs()).toBe(Math.min(...before));
  expect(queued).not.toHaveBeenCalled();
  expect(state.due.size).toBe(size);
  queued.mockRestore();
  expect(ends()).toEqual(before);
  expect(new Set(before).size).toBe(OWNERS.length);
  checkShard(state);
});

test("B05: after owners and leader died, leases end within D and the grace, owner by owner", () => {
  const shard = new BusyShard();
  shard.pass(20_000);
  shard.areOwnersDead = true;
  const diedAtMs = shard.timeMs;
  shard.pass(LEASE_MS - RENEW_MS - TICK_MS);
  expect(shard.ownedCount).toBe(RANGES);
  shard.apply(undefined);
  const { entries } = shard;
  shard.pass(RENEW_MS + GRACE_MS + TICK_MS);
  expect(shard.ownedCount).toBe(0);
  expect(shard.endedAtMs).toHaveLength(RANGES);
  expect(Math.max(...shard.endedAtMs)).toBeLessThanOrEqual(diedAtMs + LEASE_MS + GRACE_MS);
  // One for each session's leases at most, and one for the end of the sessions themselves.
  expect(shard.entries - entries).toBeLessThanOrEqual(2 * OWNERS.length);
  checkShard(shard.machine.state);
});

test("B05: without a change of leaders they end D after their last renewals, one by one", () => {
  const shard = new BusyShard();
  shard.pass(20_000);
  shard.areOwnersDead = true;
  const diedAtMs = shard.timeMs;
  shard.pass(LEASE_MS);
  expect(shard.ownedCount).toBe(0);
  expect(Math.max(...shard.endedAtMs)).toBeLessThanOrEqual(diedAtMs + LEASE_MS);
  expect(new Set(shard.endedAtMs).size).toBe(OWNERS.length);
});

test("B05: a shard that changes its leader every second still loses its dead owners by 2D", () => {
  const shard = new BusyShard();
  shard.pass(20_000);
  shard.areOwnersDead = true;
  const diedAtMs = shard.timeMs;
  while (shard.timeMs < diedAtMs + 2 * LEASE_MS) {
    shard.pass(1_000);
    shard.apply(undefined);
  }
  expect(shard.ownedCount).toBe(0);
  expect(new Set(shard.endedAtMs).size).toBe(OWNERS.length);
  expect(shard.machine.state.sessions.size).toBe(0);
  checkShard(shard.machine.state);
});
