/**
 * Three real processes under load while their leaders are killed: nothing that was acknowledged is
 * lost, no epoch goes back, no answer is older than what was acknowledged before.
 */

import { expect, test } from "vitest";
import { delay, RealCluster } from "../support/real-cluster.ts";
import { judge } from "../../history/judge.ts";
import { SHARD, Workload } from "./workload.ts";

const KILLS = 10;
const CLIENTS = 16;
const OPERATIONS_MIN = 10_000;
/** About 40 s on a quiet machine. */
const TIMEOUT_MS = 240_000;

test(
  "a history of 16 clients over 10 killed leaders fits the log, position by position",
  async () => {
    const cluster = await RealCluster.start(3);
    try {
      const options = { endpoints: cluster.endpoints, clients: CLIENTS, nodes: 8, pauseMs: 10 };
      const workload = new Workload(options);
      await workload.start();
      const startedAt = performance.now();
      let kills = 0;
      while (kills < KILLS || workload.operations.length < OPERATIONS_MIN) {
        await delay(1_200);
        if (kills >= KILLS) continue;
        const leader = await cluster.leaderOf(SHARD);
        if (leader === undefined) continue;
        await cluster.kill(leader);
        kills++;
        await delay(700);
        await cluster.startServer(leader);
        await cluster.waitReady([leader]);
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      const witness = await workload.finish();
      const { operations, resolved } = workload;
      const count = (kind: string): number => operations.filter((one) => one.kind === kind).length;
      process.stdout.write(
        `history: ${operations.length} operations in ${seconds.toFixed(1)} s over ${kills} kills` +
          ` (${count("lookup")} lookups, ${count("grant")} grants, ${count("release")} releases,` +
          ` ${count("accept")} acceptances), ${resolved} unknown outcomes resolved,` +
          ` ${witness.changes.length} revisions watched\n`,
      );
      expect(judge(operations, witness)).toEqual([]);
      expect(count("grant")).toBeGreaterThan(1_000);
    } finally {
      await cluster.stop();
    }
  },
  TIMEOUT_MS,
);
