/**
 * Ranges to be granted, and one storage node to grant them to. A round uses up unowned ranges;
 * afterwards all are released and listed anew, outside of what is measured.
 */

import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { Incarnation, Revision } from "../../src/base/brands.ts";
import type { Client } from "../../src/client/client.ts";
import type { Descriptor, GrantItem, Owner, RangeEpoch } from "../../src/wire/api.ts";
import { ITEMS_MAX, LEASE_MS_MAX, PAGE_SIZE_MAX, SPLIT_KEYS_MAX } from "../../src/wire/limits.ts";
import { METHODS } from "../../src/wire/methods.ts";
import { SHARD } from "./our-cluster.ts";
import { SENT_AGAIN } from "../sent-again.ts";

const NODE_ID = "bench-node";
const KEYSPACE_PREFIX = "bench-grants-";
/** More than are ever in flight: below it a client holds all answers (law 5). */
const ACKNOWLEDGED_BEHIND = 1_024;
/** Requests to set up that are made at once. */
const PARALLEL_MAX = 32;

export class GrantPool {
  readonly #client: Client;
  readonly #keyspaces: readonly string[];
  readonly #owner: Owner;
  #unowned: Descriptor[] = [];
  #seenRevision = 0 as Revision;
  #sequence = 0;
  #rounds = 0;

  private constructor(client: Client, keyspaces: readonly string[], owner: Owner) {
    this.#client = client;
    this.#keyspaces = keyspaces;
    this.#owner = owner;
  }

  /** Keyspaces with this many ranges together, and the node. */
  static async make(client: Client, rangeCount: number): Promise<GrantPool> {
    const keyspaces: string[] = [];
    for (let made = 0; made < rangeCount; made += SPLIT_KEYS_MAX) {
      const name = `${KEYSPACE_PREFIX}${keyspaces.length}`;
      await makeKeyspace(client, name, Math.min(SPLIT_KEYS_MAX, rangeCount - made));
      keyspaces.push(name);
    }
    return new GrantPool(client, keyspaces, await addNode(client, NODE_ID));
  }

  /** Releases what is granted; then every range is there to be granted again. */
  async refill(): Promise<void> {
    const held = await this.#list(NODE_ID);
    const ranges = held.map(({ rangeId, epoch }): RangeEpoch => ({ rangeId, epoch }));
    const { ownership } = this.#client;
    for (const part of chunks(ranges, ITEMS_MAX)) {
      await ownership.release({ owner: this.#owner, group: SHARD, ranges: part });
    }
    this.#unowned = await this.#list(undefined);
    await this.#keepSession();
    this.#rounds++;
    this.#sequence = 0;
  }

  /** One range, to be granted through the client library. */
  async takeOne(): Promise<{ readonly descriptor: Descriptor; readonly item: GrantItem }> {
    if (this.#unowned.length === 0) await this.refill();
    const descriptor = this.#unowned.pop();
    if (descriptor === undefined) throw new Error("there is no range that can be granted");
    return { descriptor, item: grantItem(descriptor) };
  }

  /** Encoded Grant requests, one a range, for so many ranges or all that are left. */
  takeRequests(countMax: number): readonly Buffer[] {
    const taken = this.#unowned.splice(0, countMax);
    return taken.map((descriptor) => {
      const sequence = ++this.#sequence;
      const requestId = {
        clientId: `bench-load-${this.#rounds}`,
        sequence,
        seenRevision: this.#seenRevision,
        acknowledgedBelow: Math.max(0, sequence - ACKNOWLEDGED_BEHIND),
      };
      const items = [grantItem(descriptor)];
      const request = { requestId, group: SHARD, items, onlyUnowned: true, handOver: false };
      return METHODS.ownership.grant.encodeRequest(request);
    });
  }

  /** A session that holds nothing ends soon. Nobody else changes what this one holds. */
  async #keepSession(): Promise<void> {
    const opened = await this.#client.ownership.openSession({ owner: this.#owner, group: SHARD });
    const asOf = opened.header.revision;
    const renewal = { owner: this.#owner, group: SHARD, asOf, except: [], ...SENT_AGAIN };
    await this.#client.ownership.renew(renewal);
  }

  async #list(nodeId: string | undefined): Promise<Descriptor[]> {
    const found: Descriptor[] = [];
    for (const keyspace of this.#keyspaces) {
      let pageToken = "";
      do {
        const unownedOnly = nodeId === undefined;
        const request = { keyspace, nodeId, unownedOnly, pageSize: PAGE_SIZE_MAX, pageToken };
        const page = await this.#client.directory.listRanges(request);
        found.push(...page.ranges.map(({ descriptor }) => descriptor));
        this.#seenRevision = page.header.revision;
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
    }
    return found;
  }
}

function grantItem({ rangeId, epoch, descriptorRevision }: Descriptor): GrantItem {
  return {
    rangeId,
    expectedEpoch: epoch,
    expectedDescriptorRevision: descriptorRevision,
    nodeId: NODE_ID,
    incarnation: undefined,
  };
}

/** Why an answer to a Grant of one unowned range is not what it must be; undefined: it is. */
export function grantProblem(bytes: Buffer): string | undefined {
  const answer = METHODS.ownership.grant.decodeAnswer(bytes);
  if (!answer.ok) return answer.error.message;
  if (answer.value.replayed) return "a grant was answered as a repeat";
  const kinds = answer.value.outcomes.map(({ kind }) => kind);
  return kinds.length === 1 && kinds[0] === "granted" ? undefined : `outcomes: ${kinds.join()}`;
}

/** An exclusive keyspace with leases as long as they may be. */
export async function makeKeyspace(
  client: Client,
  name: string,
  rangeCount: number,
  renewIntervalMs: number = LEASE_MS_MAX / 3,
): Promise<void> {
  await client.keyspaces.createKeyspace({
    name,
    kind: "range",
    hashFunction: undefined,
    leaseMode: "exclusive",
    dataKind: "none",
    leaseDurationMs: LEASE_MS_MAX,
    renewIntervalMs,
  });
  if (rangeCount === 1) return;
  const splitKeys = Array.from({ length: rangeCount - 1 }, (_, at) => keyOf(at + 1));
  await client.keyspaces.defineRanges({ keyspace: name, splitKeys });
}

/** Registers a node and opens its session. */
export async function addNode(client: Client, nodeId: string): Promise<Owner> {
  const { incarnation } = await client.ownership.register({
    nodeId,
    dataUuid: uuidOf(nodeId),
    addresses: ["127.0.0.1:1"],
    zone: "bench",
    labels: {},
    capacity: 0,
  });
  const owner = { nodeId, incarnation: incarnation satisfies Incarnation };
  await client.ownership.openSession({ owner, group: SHARD });
  return owner;
}

/** Runs the work for every item, at most so many at once. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const run = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_MAX }, run));
}

export function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** 20 bytes, as keys of a tenant and a bucket have. */
export function keyOf(at: number): Uint8Array {
  return utf8ToBytes(`tenant-${String(at).padStart(8, "0")}/0000`);
}

function uuidOf(nodeId: string): string {
  return Buffer.from(nodeId).toString("hex").slice(-32).padStart(32, "0");
}
