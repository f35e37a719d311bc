// What must hold at every moment of true time, whatever the faults: one guard for a key, epochs
// that only rise, guards that agree with the group, and owners that give up before the group does.
import type { Epoch, Revision } from "../../src/base/brands.ts";
import { deadlineMs } from "../../src/machine/shard/leases.ts";
import type { Owner } from "../../src/machine/shard/types.ts";
import type { ShardGroup } from "../../src/server/services/cluster-groups.ts";
import type { Header } from "../../src/wire/api.ts";
import type { Admitted, OwnerProcess } from "./owners-process.ts";
import type { OwnersTrace } from "./owners-trace.ts";
import { SHARD, type VirtualCluster } from "./virtual-cluster.ts";

/** No clock of the simulation runs faster; the design's bound. */
const RATE_MAX = 1.01;
/** What an owner keeps between its last moment and the group's, in its own time (law 10). */
const GUARD_TIME_MS = 250;
/** The group's own reading is of its last input, up to a tick ago, and in whole ms. */
const ROUNDING_MS = 2;
/** Breaks are noticed at the next check. */
const CHECK_MS = 4;

interface KnownRange {
  readonly owner: Owner | undefined;
  readonly successor: Owner | undefined;
  readonly epoch: Epoch;
}

export class OwnersCheckers {
  /** Per key, the largest epoch that any answer or any guard has shown. */
  readonly acknowledged: Map<string, Epoch> = new Map();
  readonly #cluster: VirtualCluster;
  readonly #trace: OwnersTrace;
  readonly #admitted = new Map<string, Epoch>();
  readonly #known = new Map<string, KnownRange>();
  #seenRevision = 0;
  readonly #leaders = new Set<string>();

  constructor(cluster: VirtualCluster, trace: OwnersTrace) {
    this.#cluster = cluster;
    this.#trace = trace;
  }

  onAnswer({ group, revision }: Header): void {
    if (group === SHARD) this.#see(revision);
  }

  /** An epoch that is known to exist from now on: no later look-up may show an older one. */
  acknowledge(key: string, epoch: Epoch): void {
    if (epoch > (this.acknowledged.get(key) ?? 0)) this.acknowledged.set(key, epoch);
  }

  /** Who admits each key. */
  check(processes: readonly OwnerProcess[]): ReadonlyMap<string, OwnerProcess> {
    const newest = this.#newest();
    if (newest !== undefined) this.#follow(newest);
    const guards = new Map<string, OwnerProcess>();
    for (const process of processes) {
      const admitted = process.admitted();
      this.#noteBreaks(process, admitted);
      for (const one of admitted) {
        const { name } = one.sample;
        const other = guards.get(name);
        must(other === undefined, `${name} is admitted by ${process.name} and ${other?.name}`);
        guards.set(name, process);
        const before = this.#admitted.get(name) ?? 0;
        must(one.epoch >= before, `${name} went back from epoch ${before} to ${one.epoch}`);
        this.#admitted.set(name, one.epoch);
        this.acknowledge(name, one.epoch);
        if (newest !== undefined) this.#agrees(process, one, newest);
      }
    }
    return guards;
  }

  /** The guard's answer to "still held", against what was seen of it since the admission. */
  checkStillHeld(process: OwnerProcess, name: string, epoch: Epoch, admittedAtMs: number): void {
    const broken = process.brokenAtMs.get(name);
    const isWhole = broken?.epoch === epoch && broken.atMs <= admittedAtMs + CHECK_MS;
    must(isWhole, `${process.name} calls ${name} still held across a break`);
  }

  #see(revision: Revision): void {
    this.#seenRevision = Math.max(this.#seenRevision, revision);
  }

  /** The shard of the server that has applied most, unless something newer has been seen. */
  #newest(): ShardGroup | undefined {
    let newest: ShardGroup | undefined;
    for (const id of this.#cluster.runningIds) {
      const shard = this.#cluster.core(id).groups.shards.get(SHARD);
      if (shard === undefined) continue;
      if (newest === undefined || shard.state.revision > newest.state.revision) newest = shard;
      const { isLeaderReady, term } = shard.access.replica.core;
      const leader = `${id}/${term}`;
      if (!isLeaderReady || this.#leaders.has(leader)) continue;
      this.#leaders.add(leader);
      this.#trace.count("elections");
    }
    if (newest === undefined || newest.state.revision < this.#seenRevision) return undefined;
    this.#see(newest.state.revision);
    return newest;
  }

  /** Counts what happened to ranges, and holds their epochs to rising. */
  #follow({ state }: ShardGroup): void {
    for (const [rangeId, { record }] of state.rangesById) {
      const { owner, successor, epoch } = record;
      const before = this.#known.get(rangeId);
      if (before !== undefined) {
        must(epoch >= before.epoch, `${rangeId} went back to epoch ${epoch}`);
        const isSame = epoch === before.epoch;
        if (isSame && owner === undefined && before.owner !== undefined) {
          this.#trace.count("expiries");
        }
        if (!isSame) this.#trace.count("grants");
        const wasNext = before.successor;
        if (!isSame && wasNext !== undefined && isOwner(owner, wasNext)) {
          this.#trace.count("successorGrants");
        }
        if (wasNext === undefined && successor !== undefined) {
          this.#trace.count("successorsRecorded");
        }
      }
      this.#known.set(rangeId, { owner, successor, epoch });
    }
  }

  /**
   * The group has the range granted to this process under this epoch, and will not end that before
   * the process has stopped by itself, even if no renewal comes any more.
   */
  #agrees(process: OwnerProcess, { rangeId, epoch, remainingMs }: Admitted, shard: ShardGroup) {
    const { state } = shard;
    const slot = state.rangesById.get(rangeId);
    const owner = slot?.record.owner;
    const seat = process.seat;
    const isOurs =
      slot !== undefined &&
      seat !== undefined &&
      slot.record.epoch === epoch &&
      owner?.nodeId === seat.nodeId &&
      owner.incarnation === seat.incarnation;
    must(isOurs, `${process.name} admits ${rangeId} under ${epoch}; the group has ended that`);
    must(slot.record.acceptedEpoch === epoch, `${process.name} admits ${rangeId} unaccepted`);
    const leaseMs = deadlineMs(state, slot) - this.#logTimeMs(shard);
    const serviceMs = leaseMs / RATE_MAX;
    must(
      remainingMs + GUARD_TIME_MS / RATE_MAX <= serviceMs + ROUNDING_MS,
      `${process.name} serves ${rangeId} for ${remainingMs} ms, the group for ${serviceMs} ms`,
    );
  }

  /** What an entry would carry that is appended now; without a leader time stands still. */
  #logTimeMs({ access, state }: ShardGroup): number {
    let timeMs: number = state.timeMs;
    let { term } = access.replica.core;
    for (const id of this.#cluster.runningIds) {
      const core = this.#cluster.core(id).groups.shards.get(SHARD)?.access.replica.core;
      if (core?.isLeaderReady !== true || core.term < term) continue;
      term = core.term;
      timeMs = Math.max(state.timeMs, core.leaderTimeMs ?? 0);
    }
    return timeMs;
  }

  #noteBreaks(process: OwnerProcess, admitted: readonly Admitted[]): void {
    const { brokenAtMs } = process;
    const atMs = this.#cluster.clock.nowMs();
    const now = new Map(admitted.map(({ sample, epoch }) => [sample.name, epoch]));
    for (const name of brokenAtMs.keys()) if (!now.has(name)) brokenAtMs.delete(name);
    for (const [name, epoch] of now) {
      if (brokenAtMs.get(name)?.epoch !== epoch) brokenAtMs.set(name, { epoch, atMs });
    }
  }
}

function isOwner(a: Owner | undefined, b: Owner): boolean {
  return a?.nodeId === b.nodeId && a.incarnation === b.incarnation;
}

export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}
