// A server that is asked to stop (SIGTERM) lets others lead first: writers wait for no election.

import { expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { Owner } from "../../../src/wire/api.ts";
import { realClient } from "../support/clients.ts";
import { RealCluster } from "../support/real-cluster.ts";

const SHARD = 1;
/** Elections take longer than this; moving leadership takes some round trips and writes. */
const GAP_MS_MAX = 400;

async function registered(client: Client): Promise<Owner> {
  const nodeId = "n1";
  const { incarnation } = await client.ownership.register({
    nodeId,
    dataUuid: "00000000000000000000000000000001",
    addresses: ["127.0.0.1:1"],
    zone: "",
    labels: {},
    capacity: 0,
  });
  const owner = { nodeId, incarnation };
  await client.ownership.openSession({ owner, group: SHARD as never });
  return owner;
}

/** Writes one after the other until it is stopped; the longest time from one answer to the next. */
class Writer {
  longestGapMs = 0;
  writes = 0;
  readonly failures: unknown[] = [];
  #isStopped = false;

  async run(client: Client, owner: Owner): Promise<void> {
    let answeredAtMs = performance.now();
    while (!this.#isStopped) {
      try {
        await client.ownership.openSession({ owner, group: SHARD as never });
      } catch (error) {
        this.failures.push(error);
      }
      const nowMs = performance.now();
      this.longestGapMs = Math.max(this.longestGapMs, nowMs - answeredAtMs);
      answeredAtMs = nowMs;
      this.writes++;
    }
  }

  stop(): void {
    this.#isStopped = true;
  }
}

test("the leader stops while clients write: no call fails, and none waits for an election", async () => {
  const cluster = await RealCluster.start(3);
  const client = realClient(cluster.endpoints, "writer");
  const writer = new Writer();
  try {
    const owner = await registered(client);
    const leader = await cluster.leaderOf(SHARD);
    if (leader === undefined) throw new Error("somebody leads");
    const writing = writer.run(client, owner);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = writer.writes;
    writer.longestGapMs = 0;
    expect(await cluster.terminate(leader)).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    writer.stop();
    await writing;
    process.stdout.write(
      `graceful stop of the leader: longest gap ${writer.longestGapMs.toFixed(0)} ms, ` +
        `${writer.writes - before} writes meanwhile\n`,
    );
    expect(writer.failures).toEqual([]);
    expect(writer.longestGapMs).toBeLessThan(GAP_MS_MAX);
    expect(await cluster.leaderOf(SHARD)).not.toBe(leader);
  } finally {
    client.close();
    await cluster.stop();
  }
}, 60_000);
