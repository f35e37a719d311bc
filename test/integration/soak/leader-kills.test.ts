/**
 * Leases while the leader is killed again and again: none is immortal, none is cut short (law 11),
 * no epoch goes back (law 3). SOAK_SECONDS makes it longer.
 */

import { expect, test } from "vitest";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Epoch } from "../../../src/base/brands.ts";
import type { Client } from "../../../src/client/client.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { RangeChange, RangeRecord } from "../../../src/wire/api.ts";
import { realClient } from "../support/clients.ts";
import { delay, RealCluster, until } from "../support/real-cluster.ts";
import { believesMs, killOwner, type SoakOwner, startOwner } from "./owners.ts";

const SECONDS = Number(process.env["SOAK_SECONDS"] ?? 24);
const KEYSPACE = "soak";
const SHARD = 1 as never;
const RANGES = 2_000;
const OWNERS = 4;
const LEASE_MS = 4_000;
const KILL_EVERY_MS = 2_000;
const OWNER_DIES_EVERY_MS = 8_000;
/** What the way from an expiry's commit to our watch may take on a busy machine. */
const SLACK_MS = 2_000;

test(
  `leases over killed leaders for ${SECONDS} s: none immortal, none cut short, no epoch back`,
  async () => {
    const cluster = await RealCluster.start(3);
    const soak = new Soak(cluster);
    try {
      await soak.prepare();
      const report = await soak.run(SECONDS * 1_000);
      process.stdout.write(`${report.text}\n`);
      expect(report.faults).toEqual([]);
      expect(report.deaths).toBeGreaterThan(0);
      expect(report.kills).toBeGreaterThan(SECONDS / 6);
    } finally {
      await soak.stop();
      await cluster.stop();
    }
  },
  SECONDS * 1_000 + 240_000,
);

interface Report {
  readonly text: string;
  readonly faults: readonly string[];
  readonly kills: number;
  readonly deaths: number;
}

class Soak {
  readonly #cluster: RealCluster;
  readonly #admin: Client;
  readonly #prober: Client;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #faults: string[] = [];
  readonly #owners = new Map<string, SoakOwner>();
  readonly #ranges = new Map<string, RangeRecord>();
  readonly #epochs = new Map<string, Epoch>();
  /** When the cluster answered a linearizable read, for the time without a leader. */
  readonly #answeredAtMs: number[] = [];
  /** From each owner's death until its last range was taken from it. */
  readonly #deaths: { readonly tookMs: number; readonly boundMs: number }[] = [];
  #watchStarted = false;
  #kills = 0;
  #expiries = 0;
  #grants = 0;
  #made = 0;

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
    this.#admin = realClient(cluster.endpoints, "soak-admin");
    this.#prober = realClient(cluster.endpoints, "soak-prober");
  }

  async prepare(): Promise<void> {
    const kind = { kind: "range", hashFunction: undefined, leaseMode: "exclusive" } as const;
    const lease = { leaseDurationMs: LEASE_MS, renewIntervalMs: LEASE_MS / 4 } as const;
    const { keyspaces } = this.#admin;
    await keyspaces.createKeyspace({ name: KEYSPACE, ...kind, dataKind: "none", ...lease });
    const splitKeys = Array.from({ length: RANGES - 1 }, (_, at) => keyOf(at + 1));
    await keyspaces.defineRanges({ keyspace: KEYSPACE, splitKeys });
    for (let at = 0; at < OWNERS; at++) await this.#addOwner();
    this.#running.push(this.#watch(), this.#probe(), this.#grantUnowned());
    await until(() => this.#ownedCount() === RANGES, 60_000);
  }

  async run(durationMs: number): Promise<Report> {
    const endMs = performance.now() + durationMs;
    const killing = this.#killLeaders(endMs);
    const dying = this.#killOwners(endMs);
    await Promise.all([killing, dying]);
    await until(() => this.#ownedCount() === RANGES, 60_000);
    return {
      text: this.#text(),
      faults: this.#faults,
      kills: this.#kills,
      deaths: this.#deaths.length,
    };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#admin.close();
    this.#prober.close();
    await Promise.all(this.#running);
    for (const owner of this.#owners.values()) {
      if (owner.deadAtMs === undefined) await killOwner(owner);
    }
  }

  get #isOver(): boolean {
    return this.#stop.signal.aborted;
  }

  async #addOwner(): Promise<void> {
    const owner = await startOwner(this.#cluster.endpoints, `n${++this.#made}`);
    this.#owners.set(owner.nodeId, owner);
  }

  #living(): SoakOwner[] {
    return [...this.#owners.values()].filter(({ deadAtMs }) => deadAtMs === undefined);
  }

  #ownedCount(): number {
    let count = 0;
    for (const { descriptor } of this.#ranges.values()) if (descriptor.owner) count++;
    return count;
  }

  async #killLeaders(endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      await delay(KILL_EVERY_MS - 300);
      const leader = await this.#cluster.leaderOf(SHARD);
      if (leader === undefined) continue;
      await this.#cluster.kill(leader);
      this.#kills++;
      await delay(300);
      await this.#cluster.startServer(leader);
    }
    await this.#cluster.waitReady();
  }

  async #killOwners(endMs: number): Promise<void> {
    while (performance.now() + OWNER_DIES_EVERY_MS < endMs) {
      await delay(OWNER_DIES_EVERY_MS);
      const victim = this.#living()[0];
      if (victim === undefined) return;
      await this.#addOwner();
      await killOwner(victim);
      await this.#awaitEnd(victim);
    }
  }

  /** A dead owner's leases end 2D of log time after its last renewal at the latest (law 11). */
  async #awaitEnd(victim: SoakOwner): Promise<void> {
    const diedAtMs = victim.deadAtMs ?? 0;
    const isGone = (): boolean =>
      [...this.#ranges.values()].every(
        ({ descriptor }) => descriptor.owner?.nodeId !== victim.nodeId,
      );
    const bound = (): number => 2 * LEASE_MS + this.#leaderlessMs(diedAtMs) + SLACK_MS;
    while (!isGone()) {
      await delay(20);
      if (performance.now() - diedAtMs <= bound()) continue;
      this.#faults.push(
        `${victim.nodeId} still owns ranges ${bound().toFixed(0)} ms after its death`,
      );
      return;
    }
    this.#deaths.push({ tookMs: performance.now() - diedAtMs, boundMs: bound() });
  }

  /** Time since then in which nothing was answered: log time stands still without a leader. */
  #leaderlessMs(sinceMs: number): number {
    let silentMs = 0;
    let lastMs = sinceMs;
    for (const atMs of [...this.#answeredAtMs.filter((at) => at > sinceMs), performance.now()]) {
      if (atMs - lastMs > 150) silentMs += atMs - lastMs;
      lastMs = atMs;
    }
    return silentMs;
  }

  async #probe(): Promise<void> {
    while (!this.#isOver) {
      const call = this.#prober.directory.lookup(
        { keyspace: KEYSPACE, key: keyOf(0) },
        { deadlineMs: 500, signal: this.#stop.signal },
      );
      await call.then(() => this.#answeredAtMs.push(performance.now()), ignoreFailure);
      await delay(40);
    }
  }

  async #watch(): Promise<void> {
    const input = { keyspace: KEYSPACE, failIfCompacted: true };
    try {
      for await (const frame of this.#admin.watch(input, { signal: this.#stop.signal })) {
        if (frame.kind === "snapshot") {
          if (this.#watchStarted && frame.first) this.#faults.push("the watch started over");
          this.#watchStarted = true;
          for (const range of frame.ranges) this.#see(range);
        }
        if (frame.kind !== "changes") continue;
        for (const { changes } of frame.revisions) for (const one of changes) this.#change(one);
      }
    } catch (error) {
      if (!this.#isOver) throw error;
    }
  }

  #see(range: RangeRecord): void {
    const { rangeId, epoch } = range.descriptor;
    const known = this.#epochs.get(rangeId);
    const before = this.#ranges.get(rangeId)?.descriptor.owner;
    const { owner } = range.descriptor;
    if (known !== undefined && epoch < known) this.#faults.push(`${rangeId}: epoch went back`);
    const isGranted = owner !== undefined && owner.incarnation !== before?.incarnation;
    if (known !== undefined && isGranted && epoch <= known) {
      this.#faults.push(`${rangeId}: granted again under epoch ${epoch}`);
    }
    this.#epochs.set(rangeId, epoch);
    this.#ranges.set(rangeId, range);
  }

  #change({ before, after, cause }: RangeChange): void {
    if (cause === "expired" && before?.descriptor.owner !== undefined) {
      this.#expiries++;
      const { owner, rangeId, epoch } = before.descriptor;
      const holder = this.#owners.get(owner.nodeId);
      const leftMs = holder && believesMs(holder, { rangeId, epoch });
      if (leftMs !== undefined && leftMs > 0) {
        this.#faults.push(`${rangeId} was taken from ${owner.nodeId} ${leftMs} ms too early`);
      }
    }
    if (after !== undefined) this.#see(after);
  }

  /** The operator: what nobody owns goes to somebody who lives. */
  async #grantUnowned(): Promise<void> {
    while (!this.#isOver) {
      const unowned = [...this.#ranges.values()].filter(({ descriptor }) => !descriptor.owner);
      const living = this.#living();
      if (unowned.length > 0 && living.length > 0) {
        const items = unowned.slice(0, 200).map(({ descriptor }, at) => ({
          rangeId: descriptor.rangeId,
          nodeId: (living[at % living.length] as SoakOwner).nodeId,
          expectedEpoch: descriptor.epoch,
          expectedDescriptorRevision: descriptor.descriptorRevision,
          incarnation: undefined,
        }));
        this.#grants += items.length;
        await this.#admin.ownership
          .grant({ group: SHARD, items, onlyUnowned: true }, { deadlineMs: 2_000 })
          .catch(ignoreFailure);
      }
      await delay(100);
    }
  }

  #text(): string {
    const outages = this.#outages();
    const took = this.#deaths.map(({ tookMs }) => tookMs.toFixed(0)).join(", ");
    const bounds = this.#deaths.map(({ boundMs }) => boundMs.toFixed(0)).join(", ");
    return (
      `leases over ${this.#kills} killed leaders: ${RANGES} ranges, leases of ${LEASE_MS} ms; ` +
      `${this.#deaths.length} owners died, ranges free after ${took} ms (bounds ${bounds}); ` +
      `${this.#expiries} expiries, ${this.#grants} grants sent; without an answer for ` +
      `${Math.max(0, ...outages).toFixed(0)} ms at most`
    );
  }

  #outages(): number[] {
    return this.#answeredAtMs.map((at, i) => at - (this.#answeredAtMs[i - 1] ?? at));
  }
}

function keyOf(at: number): Uint8Array {
  return utf8ToBytes(`k${String(at).padStart(6, "0")}`);
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof CoordinationError)) throw error;
}
