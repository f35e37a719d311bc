/**
 * Grants against the peer's writes: each of ours is the grant of another unowned range, with a
 * request id of its own; each of theirs puts another key, with a value that makes the request as
 * long as ours. Both go to the leader.
 */

import { METHODS } from "../../src/wire/methods.ts";
import { type Bench, coresNote, type Finding, type Scenario, watchedPids } from "./bench.ts";
import { KV } from "./etcd-api.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { grantProblem, keyOf } from "./grant-pool.ts";
import { type LoadReading, runLoad } from "./load.ts";
import type { PipeKind } from "./pipes.ts";
import { type Budget, overRounds } from "./results.ts";

const CONNECTIONS_MAX = 4;
/** Requests are prepared for at most this rate, which nothing here reaches. */
const PER_SECOND_MAX = 30_000;
const PER_SECOND_ALONE_MAX = 4_000;
/** Taken from a Grant of ours; the length only matters for fairness. */
const REQUEST_BYTES_DEFAULT = 120;

interface GrantsOptions {
  readonly name: string;
  readonly inFlight: number;
  readonly pipe: PipeKind;
}

export function grantRate(options: GrantsOptions): Scenario {
  const what = `grants, ${options.inFlight} in flight, three servers, synced; peer: Put`;
  return grantScenario(options, what, {
    unit: "grants/s",
    budget: { kind: "atLeastTimesPeer", factor: 1.2 },
    figure: ({ perSecond }) => perSecond,
  });
}

export function grantLatency(options: GrantsOptions): Scenario {
  return grantScenario(options, "one grant alone, p50; peer: Put", {
    unit: "ms",
    budget: { kind: "atMostPeer" },
    figure: ({ p50Ms }) => p50Ms,
  });
}

interface Figure {
  readonly unit: string;
  readonly budget: Budget;
  readonly figure: (reading: LoadReading) => number;
}

function grantScenario(options: GrantsOptions, what: string, figure: Figure): Scenario {
  const { name, pipe } = options;
  return {
    name,
    rows: [{ name, what, unit: figure.unit, budget: figure.budget }],
    needsH2load: false,
    run: async (bench) => [await measure(bench, options, figure, pipe)],
  };
}

async function measure(
  bench: Bench,
  { name, inFlight }: GrantsOptions,
  { figure, unit }: Figure,
  pipe: PipeKind,
): Promise<Finding> {
  const pool = await bench.pool();
  const { warmUpMs, measureMs } = bench.sizes;
  const connections = Math.min(CONNECTIONS_MAX, inFlight);
  const common = { pipe, connections, inFlight, warmUpMs, measureMs };
  const perSecondMax = inFlight === 1 ? PER_SECOND_ALONE_MAX : PER_SECOND_MAX;
  const countMax = Math.ceil((perSecondMax * (warmUpMs + measureMs)) / 1_000);
  let requestBytes = REQUEST_BYTES_DEFAULT;
  const { ours, peer } = await bench.takeTurns({
    what: name,
    show: (reading) => `${figure(reading).toFixed(2)} ${unit}`,
    ours: async () => {
      await pool.refill();
      const leader = await bench.ours.leader();
      const requests = pool.takeRequests(countMax);
      requestBytes = requests[0]?.length ?? requestBytes;
      const answers: Buffer[] = [];
      const left = requests.values();
      const reading = await runLoad({
        ...common,
        address: leader.grpc,
        path: METHODS.ownership.grant.path,
        next: () => left.next().value,
        onAnswer: (answer) => answers.push(answer),
        watched: watchedPids(leader.pid, bench.ours.pids),
      });
      for (const answer of answers) {
        const problem = grantProblem(answer);
        if (problem !== undefined) throw new Error(`a grant was not granted: ${problem}`);
      }
      return reading;
    },
    peer: (etcd) =>
      measurePuts(etcd, common, putRequests(countMax, bench.sizes.ranges, requestBytes)),
  });
  const read = (readings: readonly LoadReading[]) => overRounds(readings.map(figure));
  return {
    ours: read(ours),
    peer: peer.length === 0 ? undefined : read(peer),
    note: `generator: ${pipe}, ${connections} connections to the leader; ${coresNote(ours, peer)}`,
  };
}

async function measurePuts(
  etcd: EtcdCluster,
  common: {
    readonly pipe: PipeKind;
    readonly connections: number;
    readonly inFlight: number;
    readonly warmUpMs: number;
    readonly measureMs: number;
  },
  requests: readonly Buffer[],
): Promise<LoadReading> {
  const leader = await etcd.leader();
  const left = requests.values();
  return runLoad({
    ...common,
    address: leader.address,
    path: KV.Put.path,
    next: () => left.next().value,
    onAnswer: () => {},
    watched: watchedPids(leader.process.pid, etcd.pids),
  });
}

/** As many keys as there are ranges, again and again. */
function putRequests(count: number, keys: number, requestBytes: number): readonly Buffer[] {
  const empty = KV.Put.requestSerialize({ key: keyOf(0), value: new Uint8Array(1) });
  const value = Buffer.alloc(Math.max(1, requestBytes - empty.length + 1), "v");
  const distinct = Array.from({ length: Math.min(count, keys) }, (_, at) =>
    KV.Put.requestSerialize({ key: keyOf(at), value }),
  );
  return Array.from({ length: count }, (_, at) => distinct[at % distinct.length] ?? empty);
}
