/**
 * How long nobody is served after the leader is gone: killed outright, or paused, as by a stall
 * that does not end. From the signal to the answer of the next grant, which the public client
 * library makes; for the peer, of the next Put, tried at one surviving member after the other.
 */

import type { Bench, Finding, RowHead, Scenario } from "./bench.ts";
import { callEtcd, KV } from "./etcd-api.ts";
import type { EtcdCluster, EtcdMember } from "./etcd-cluster.ts";
import { keyOf } from "./grant-pool.ts";
import { SHARD } from "./our-cluster.ts";
import { delay } from "./processes.ts";
import type { Measured } from "./results.ts";
import { median, percentile, spreadOf } from "./statistics.ts";

const GIVE_UP_MS = 30_000;
const PUT_TIMEOUT_MS = 100;
const PUT_PAUSE_MS = 5;
const WHO_ASKS = "ours asked by the client library as ever, the peer only at its survivors";

const ROWS: readonly RowHead[] = [
  {
    name: "failover",
    what: "leader killed to next grant acknowledged, p50; peer: Put",
    unit: "s",
    budget: { kind: "atMost", limit: 0.8 },
  },
  {
    name: "failover-p99",
    what: "the same, p99",
    unit: "s",
    budget: { kind: "atMost", limit: 1.5 },
  },
  {
    name: "failover-paused",
    what: "leader paused to next grant acknowledged, p50; peer: Put",
    unit: "s",
    budget: { kind: "none" },
  },
  { name: "failover-paused-p99", what: "the same, p99", unit: "s", budget: { kind: "none" } },
];

export const failover: Scenario = {
  name: "failover",
  rows: ROWS,
  needsH2load: false,
  run: measure,
};

type Way = "SIGKILL" | "SIGSTOP";

interface Outages {
  readonly ours: number[];
  readonly peer: number[];
}

async function measure(bench: Bench): Promise<readonly Finding[]> {
  const { kills, pauses } = bench.sizes;
  const findings: Finding[] = [];
  for (const [way, count] of [
    ["SIGKILL", kills],
    ["SIGSTOP", pauses],
  ] as const) {
    const outages = await takeTurns(bench, way, count);
    const note = `${count} times, p99 of so few is the longest; ${WHO_ASKS}`;
    findings.push(findingOf(outages, note, (seconds) => median(seconds)));
    findings.push(findingOf(outages, note, (seconds) => percentile(seconds, 0.99)));
  }
  return findings;
}

function findingOf(
  { ours, peer }: Outages,
  note: string,
  figure: (seconds: readonly number[]) => number,
): Finding {
  const measured = (seconds: readonly number[]): Measured => ({
    value: figure(seconds),
    spread: spreadOf(seconds),
  });
  return { ours: measured(ours), peer: peer.length === 0 ? undefined : measured(peer), note };
}

async function takeTurns(bench: Bench, way: Way, count: number): Promise<Outages> {
  const outages: Outages = { ours: [], peer: [] };
  for (let turn = 1; turn <= count; turn++) {
    const ours = await ourOutage(bench, way);
    outages.ours.push(ours);
    let beside = "";
    if (bench.peer !== undefined) {
      const theirs = await peerOutage(bench.peer, way, bench.sizes.settleMs);
      outages.peer.push(theirs);
      beside = `, etcd ${theirs.toFixed(3)} s`;
    }
    bench.say(`failover: ${way} ${turn} of ${count}: ${ours.toFixed(3)} s${beside}`);
  }
  return outages;
}

async function ourOutage(bench: Bench, way: Way): Promise<number> {
  const { ours, sizes } = bench;
  const pool = await bench.pool();
  const client = ours.newClient(`bench-failover-${process.hrtime.bigint()}`);
  const grantOne = async (): Promise<void> => {
    const { item } = await pool.takeOne();
    const request = { group: SHARD, items: [item], onlyUnowned: true };
    await client.ownership.grant(request, { deadlineMs: GIVE_UP_MS });
  };
  // So that the client knows the leader, as one does that is at work.
  await grantOne();
  await grantOne();
  const leader = await ours.leader();
  process.kill(leader.pid, way);
  const startedAtMs = performance.now();
  try {
    await grantOne();
  } finally {
    if (way === "SIGSTOP") process.kill(leader.pid, "SIGCONT");
  }
  const seconds = (performance.now() - startedAtMs) / 1_000;
  if (way === "SIGKILL") await ours.restart(leader.id);
  else await ours.waitCaughtUp();
  client.close();
  await delay(sizes.settleMs);
  return seconds;
}

async function peerOutage(etcd: EtcdCluster, way: Way, settleMs: number): Promise<number> {
  const leader = await etcd.leader();
  const survivors = etcd.members.filter((member) => member !== leader);
  leader.process.kill(way);
  const startedAtMs = performance.now();
  try {
    await putSomewhere(survivors);
  } finally {
    if (way === "SIGSTOP") leader.process.kill("SIGCONT");
  }
  const seconds = (performance.now() - startedAtMs) / 1_000;
  if (way === "SIGKILL") await etcd.restart(leader);
  else await etcd.waitReady();
  await delay(settleMs);
  return seconds;
}

async function putSomewhere(members: readonly EtcdMember[]): Promise<void> {
  const request = { key: keyOf(0), value: keyOf(0) };
  const startedAtMs = performance.now();
  for (let attempt = 0; performance.now() - startedAtMs < GIVE_UP_MS; attempt++) {
    const member = members[attempt % members.length];
    if (member === undefined) break;
    const answer = await callEtcd(member.client, KV.Put, request, PUT_TIMEOUT_MS).catch(noAnswer);
    if (answer !== undefined) return;
    await delay(PUT_PAUSE_MS);
  }
  throw new Error(`etcd has taken no write for ${GIVE_UP_MS} ms`);
}

function noAnswer(): undefined {
  return undefined;
}
