// B01: a renewal that was acknowledged just before the leader died counts at the next leader.
// Whole servers and real clients on virtual time.
import { expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { CoordinationError } from "../../src/client/errors.ts";
import type { Descriptor, Owner } from "../../src/wire/api.ts";
import { VirtualClients } from "./virtual-clients.ts";
import { ROOT, SHARD, VirtualCluster } from "./virtual-cluster.ts";
import { SENT_AGAIN } from "../sent-again.ts";

const LEASE_MS = 4_000;
const GRACE_MS = 4_000;
const POLL_MS = 50;
const INTERVAL_MS = 1_000;
/** Detecting a dead leader and electing another, at the most. */
const ELECTION_MS = 3_000;
const KEY = new Uint8Array([1]);

interface Node {
  readonly client: Client;
  readonly owner: Owner;
}

class Scene {
  readonly cluster: VirtualCluster;
  readonly #clients: VirtualClients;

  constructor(seed: number) {
    this.cluster = new VirtualCluster({ seed });
    this.#clients = new VirtualClients(this.cluster);
  }

  get nowMs(): number {
    return this.cluster.clock.nowMs();
  }

  run<T>(call: Promise<T>): Promise<T> {
    return this.cluster.result(call);
  }

  /** A keyspace of one range, and two nodes. */
  async start(): Promise<readonly [Node, Node]> {
    await this.cluster.leader(ROOT);
    const { keyspaces } = this.#clients.client("operator");
    const settings = {
      kind: "range",
      hashFunction: undefined,
      leaseMode: "exclusive",
      dataKind: "none",
      leaseDurationMs: LEASE_MS,
      renewIntervalMs: INTERVAL_MS,
    } as const;
    await this.run(keyspaces.createKeyspace({ name: "demo", ...settings }));
    const nodes = [await this.#join("a"), await this.#join("b")] as const;
    // The first leader's grace is over then: what follows is about the next one's.
    await this.cluster.clock.advance(GRACE_MS);
    return nodes;
  }

  /** Answers when it was sent. */
  async renew({ client, owner }: Node): Promise<number> {
    const { header } = await this.run(client.directory.lookup({ keyspace: "demo", key: KEY }));
    const sentMs = this.nowMs;
    const renewal = { owner, group: SHARD, asOf: header.revision, except: [], ...SENT_AGAIN };
    await this.run(client.ownership.renew(renewal));
    return sentMs;
  }

  async descriptor({ client }: Node): Promise<Descriptor> {
    const { route } = await this.run(client.directory.lookup({ keyspace: "demo", key: KEY }));
    return route.descriptor;
  }

  /** Asks for the range as it stands, if nobody owns it. */
  async acquire(node: Node): Promise<boolean> {
    const { client, owner } = node;
    const { rangeId, epoch, descriptorRevision } = await this.descriptor(node);
    const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
    const items = [{ rangeId, ...expected, ...owner }];
    try {
      await this.run(client.ownership.grant({ group: SHARD, items, onlyUnowned: true }));
      return true;
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      // STALE_EPOCH: the lease has ended between the look-up and the grant.
      expect(["LEASE_HELD", "STALE_EPOCH"]).toContain(error.reason);
      return false;
    }
  }

  /** Asks again and again, renewing its own session; answers when it was granted. */
  async acquireAtLast(node: Node): Promise<number> {
    for (let polls = 0; !(await this.acquire(node)); polls++) {
      await this.cluster.clock.advance(POLL_MS);
      if (polls % (INTERVAL_MS / POLL_MS) === 0) await this.renew(node);
    }
    return this.nowMs;
  }

  async #join(nodeId: string): Promise<Node> {
    const client = this.#clients.client(nodeId);
    const node = { nodeId, dataUuid: "0".repeat(32), addresses: [`${nodeId}:1`] };
    const registration = { ...node, zone: "", labels: {}, capacity: 0 };
    const { incarnation } = await this.run(client.ownership.register(registration));
    const owner = { nodeId, incarnation };
    await this.run(client.ownership.openSession({ owner, group: SHARD }));
    return { client, owner };
  }
}

/** The renewal that counts, and what came of it. */
async function runCase(seed: number, renewsAgain: boolean): Promise<void> {
  const scene = new Scene(seed * 31);
  const [a, b] = await scene.start();
  expect(await scene.acquire(a)).toBe(true);
  const granted = await scene.descriptor(a);
  await scene.cluster.clock.advance(LEASE_MS - 500);
  await scene.renew(b);
  let sentMs = await scene.renew(a);
  scene.cluster.crash(await scene.cluster.leader(SHARD));
  if (renewsAgain) {
    await scene.cluster.clock.advance(seed * 300);
    sentMs = await scene.renew(a);
    expect(await scene.descriptor(a)).toEqual(granted);
  }
  const acquiredMs = await scene.acquireAtLast(b);
  expect(acquiredMs - sentMs).toBeGreaterThanOrEqual(LEASE_MS);
  // The deadline is D from the renewal, or the grace of the leader that came after it.
  const latestMs = ELECTION_MS + Math.max(LEASE_MS, GRACE_MS) + INTERVAL_MS;
  expect(acquiredMs - sentMs).toBeLessThanOrEqual(latestMs);
  const now = await scene.descriptor(b);
  expect(now.owner).toEqual(b.owner);
  expect(now.epoch).toBeGreaterThan(granted.epoch);
}

test("B01: what a dead leader has acknowledged counts: nobody else is granted before s + D", async () => {
  for (let seed = 1; seed <= 5; seed++) await runCase(seed, false);
}, 60_000);

test("B01: an owner that renews in time through the next leader keeps its epoch", async () => {
  for (let seed = 1; seed <= 5; seed++) await runCase(seed, true);
}, 60_000);
