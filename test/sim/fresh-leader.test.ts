// A leader that has just won may not know yet what is committed: whole servers on virtual time, in
// the moments after a leader died that alone had told of a grant (etcd #7331, TiKV #9239).
import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import {
  clusterWith,
  grant,
  join,
  LINEARIZABLE,
  others,
  services,
} from "../server/services/harness.ts";
import { SHARD, type VirtualCluster } from "./virtual-cluster.ts";

const READ_TIMEOUT_MS = 3_000;
/** So long the third server gets no entries: it cannot confirm the new leader's term. */
const ENTRIES_DELAYED_MS = 1_000;

interface AskedRead {
  readonly at: ServerId;
  readonly askedMs: number;
  outcome: { readonly epoch: number | undefined; readonly answeredMs: number } | undefined;
}

function ask(cluster: VirtualCluster, at: ServerId): AskedRead {
  const { clock } = cluster;
  const read: AskedRead = { at, askedMs: clock.nowMs(), outcome: undefined };
  const request = { keyspace: "demo", key: utf8ToBytes("x"), read: LINEARIZABLE };
  const context = { timeoutMs: READ_TIMEOUT_MS };
  void services(cluster, at)
    .directory.lookup(request, context)
    .then((answer) => {
      const epoch = answer.ok ? answer.value.route.descriptor.epoch : undefined;
      read.outcome = { epoch, answeredMs: clock.nowMs() };
    });
  return read;
}

function roleAt(cluster: VirtualCluster, id: ServerId): { leads: boolean; isReady: boolean } {
  const core = cluster.core(id).groups.shards.get(SHARD)?.access.replica.core;
  return { leads: core?.role === "leader", isReady: core?.isLeaderReady === true };
}

test("a new leader answers no read before it knows what is committed (Ongaro §6.4)", async () => {
  for (const seed of [1, 2, 3]) {
    const cluster = await clusterWith([], { seed, peerDelayMs: 20 });
    const leader = await cluster.leader(SHARD);
    const [successor, behind] = others(cluster, leader);
    if (successor === undefined || behind === undefined) return expect.fail("three servers");
    const owner = await join(cluster, leader, "n1");
    await cluster.clock.advance(200);
    cluster.stall(behind, SHARD);
    const answer = await grant(cluster, leader, [0], owner);
    const { epoch } = answer.outcomes[0]?.range.descriptor ?? expect.fail("a grant has an outcome");
    cluster.crash(leader);
    const diedMs = cluster.clock.nowMs();
    const reads: AskedRead[] = [];
    let readsOfFreshLeader = 0;
    while (cluster.clock.nowMs() < diedMs + 2 * READ_TIMEOUT_MS) {
      const { leads, isReady } = roleAt(cluster, successor);
      if (leads && !isReady) readsOfFreshLeader++;
      if (leads && reads.length < 100) reads.push(ask(cluster, successor), ask(cluster, behind));
      if (cluster.clock.nowMs() > diedMs + ENTRIES_DELAYED_MS) cluster.unstall(behind, SHARD);
      await cluster.clock.advance(leads && !isReady ? 1 : 5);
    }
    expect(readsOfFreshLeader).toBeGreaterThan(3);
    expect(reads).not.toHaveLength(0);
    for (const { outcome, askedMs, at } of reads) {
      const { answeredMs, epoch: shown } = outcome ?? expect.fail(`${at} never answers`);
      expect(answeredMs - askedMs).toBeLessThanOrEqual(READ_TIMEOUT_MS);
      if (shown !== undefined) expect(shown).toBe(epoch);
    }
    expect(reads.filter(({ outcome }) => outcome?.epoch === epoch).length).toBeGreaterThan(3);
  }
});
