/**
 * Many storage nodes that hold many ranges and renew them, each once in every interval, over a few
 * connections to the leader.
 */

import { randomInt } from "node:crypto";
import type { Revision } from "../../src/base/brands.ts";
import type { Client } from "../../src/client/client.ts";
import type { ServerChannel } from "../../src/client/channel.ts";
import { grpcChannel } from "../../src/client/grpc/grpc-channel.ts";
import type { Descriptor, GrantItem, Owner, RenewalPair } from "../../src/wire/api.ts";
import {
  ITEMS_MAX,
  KNOWN_PAIRS_MAX,
  PAGE_SIZE_MAX,
  SPLIT_KEYS_MAX,
} from "../../src/wire/limits.ts";
import type { BackgroundLoad, Sizes } from "./bench.ts";
import { addNode, chunks, inParallel, makeKeyspace } from "./grant-pool.ts";
import { type OurCluster, SHARD } from "./our-cluster.ts";
import { Pacer } from "./pacer.ts";
import { eventually } from "./processes.ts";

const CONNECTIONS = 8;
const CALL_TIMEOUT_MS = 10_000;
const KEYSPACE_PREFIX = "bench-renewals-";

interface Renewer {
  readonly owner: Owner;
  readonly channel: ServerChannel;
  /** Its view is complete up to here: of the last answer, or of when all was granted. */
  asOf: Revision;
  sequence: number;
  /** Sent since the last answer, and the one that was answered. */
  known: RenewalPair[];
}

export class RenewalLoad implements BackgroundLoad {
  readonly #renewers: readonly Renewer[];
  readonly #channels: readonly ServerChannel[];
  readonly #pacer: Pacer;
  #startedAtMs = 0;
  #answered = 0;
  #underWay = 0;
  #refused: string | undefined;

  private constructor(
    renewers: readonly Renewer[],
    channels: readonly ServerChannel[],
    intervalMs: number,
  ) {
    this.#renewers = renewers;
    this.#channels = channels;
    this.#pacer = new Pacer(renewers.length, intervalMs, (at) => this.#renew(at));
  }

  static async make(cluster: OurCluster, address: string, sizes: Sizes): Promise<RenewalLoad> {
    const { client } = cluster;
    const { nodes, rangesPerNode, renewIntervalMs } = sizes;
    const descriptors = await makeRanges(client, nodes * rangesPerNode, renewIntervalMs);
    const owners: Owner[] = [];
    const nodesAtOnce = Math.max(1, Math.floor(ITEMS_MAX / rangesPerNode));
    const parts = chunks(descriptors, nodesAtOnce * rangesPerNode);
    await inParallel([...parts.entries()], async ([part, ranges]) => {
      const ofNodes = chunks(ranges, rangesPerNode);
      owners.push(...(await addOwners(client, `renew-${part}-`, ofNodes)));
    });
    const { header } = await client.directory.listRanges({
      keyspace: keyspaceName(0),
      pageSize: 1,
    });
    const channels = Array.from({ length: CONNECTIONS }, () => grpcChannel(address));
    const renewers = owners.flatMap((owner, at): Renewer[] => {
      const channel = channels[at % CONNECTIONS];
      return channel === undefined
        ? []
        : [{ owner, channel, asOf: header.revision, sequence: 0, known: [] }];
    });
    return new RenewalLoad(renewers, channels, renewIntervalMs);
  }

  start(): void {
    this.#answered = 0;
    this.#startedAtMs = performance.now();
    this.#pacer.start();
  }

  async stop(): Promise<number> {
    this.#pacer.stop();
    const seconds = (performance.now() - this.#startedAtMs) / 1_000;
    await eventually("all renewals are answered", 2 * CALL_TIMEOUT_MS, () =>
      this.#underWay === 0 ? true : undefined,
    );
    if (this.#refused !== undefined) throw new Error(`a renewal was refused: ${this.#refused}`);
    return this.#answered / seconds;
  }

  close(): void {
    for (const channel of this.#channels) channel.close();
  }

  #renew(at: number): void {
    const renewer = this.#renewers[at];
    if (renewer === undefined) return;
    const { owner, channel, asOf } = renewer;
    this.#underWay++;
    const pair = { sequence: ++renewer.sequence, nonce: randomInt(2 ** 47) };
    const { known } = renewer;
    renewer.known = [...known, pair].slice(-KNOWN_PAIRS_MAX);
    const request = { owner, group: SHARD, asOf, except: [], pair, known };
    const context = { timeoutMs: CALL_TIMEOUT_MS };
    void channel.services.ownership.renew(request, context).then((answer) => {
      this.#underWay--;
      if (!answer.ok) {
        this.#refused ??= answer.error.message;
        return;
      }
      this.#answered++;
      if (answer.value.durations.length === 0) this.#refused ??= "nothing was extended";
      renewer.asOf = answer.value.header.revision;
      renewer.known = renewer.known.filter(({ sequence }) => sequence >= pair.sequence);
    });
  }
}

function keyspaceName(at: number): string {
  return `${KEYSPACE_PREFIX}${at}`;
}

async function makeRanges(
  client: Client,
  count: number,
  renewIntervalMs: number,
): Promise<readonly Descriptor[]> {
  const descriptors: Descriptor[] = [];
  for (let at = 0; at * SPLIT_KEYS_MAX < count; at++) {
    const keyspace = keyspaceName(at);
    const rangeCount = Math.min(SPLIT_KEYS_MAX, count - at * SPLIT_KEYS_MAX);
    await makeKeyspace(client, keyspace, rangeCount, renewIntervalMs);
    let pageToken = "";
    do {
      const request = { keyspace, pageSize: PAGE_SIZE_MAX, pageToken };
      const page = await client.directory.listRanges(request);
      descriptors.push(...page.ranges.map(({ descriptor }) => descriptor));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  return descriptors;
}

/** A node for each list of ranges, all granted at once: a session that holds nothing ends soon. */
async function addOwners(
  client: Client,
  prefix: string,
  lists: readonly (readonly Descriptor[])[],
): Promise<readonly Owner[]> {
  const owners: Owner[] = [];
  const items: GrantItem[] = [];
  for (const [at, ranges] of lists.entries()) {
    const owner = await addNode(client, `${prefix}${at}`);
    owners.push(owner);
    for (const { rangeId, epoch, descriptorRevision } of ranges) {
      const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
      items.push({ rangeId, ...expected, ...owner });
    }
  }
  await client.ownership.grant({ group: SHARD, items, onlyUnowned: true });
  return owners;
}
