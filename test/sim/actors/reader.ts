/**
 * Readers: look-ups, batches and lists at every level of freshness, through their client and at
 * single servers (a client avoids those that lag behind). The answers are judged where they are
 * given (p14-reads.ts); what is linearizable goes to the judge of histories as well.
 */

import type { ServerChannel } from "../../../src/client/channel.ts";
import type { ReadOptions, Route } from "../../../src/wire/api.ts";
import { SHARD } from "../virtual-cluster.ts";
import type { SampleKeys } from "./keyspaces.ts";
import { type ActorWorld, Party } from "./party.ts";

const DIRECT_MS = 2_000;
const LINEARIZABLE: ReadOptions = { kind: "linearizable" };

export class Reader extends Party {
  readonly #samples: SampleKeys;
  readonly #servers: readonly ServerChannel[];

  constructor(world: ActorWorld, options: { readonly name: string; readonly samples: SampleKeys }) {
    super(world, { name: options.name });
    this.#samples = options.samples;
    const open = world.channels.factory(this);
    this.#servers = world.endpoints.map((endpoint) => open(endpoint));
  }

  async act(): Promise<void> {
    const { prng } = this;
    if (this.#samples.all.length === 0) return;
    const sample = prng.pick(this.#samples.all);
    const { keyspace, key } = sample;
    const kind = prng.nextInteger(0, 9);
    if (kind < 5) return this.#lookup(keyspace, key);
    const read = this.#someLevel();
    const direct = { timeoutMs: DIRECT_MS };
    const { directory } = prng.pick(this.#servers).services;
    if (kind === 5) {
      await directory.lookup({ keyspace, key, read }, direct);
    } else if (kind === 6) {
      const keys = [key, ...this.#samples.all.slice(0, 3).map((other) => other.key)];
      await directory.lookupBatch({ keyspace, keys, read }, direct);
    } else if (kind === 7) {
      await this.#pages(keyspace);
    } else if (kind === 8) {
      await this.client.directory.lookup({ keyspace, key, read });
    } else {
      await this.#range(keyspace, key);
    }
  }

  async #lookup(keyspace: string, key: Uint8Array): Promise<void> {
    const startedAt = this.world.clock.nowMs();
    const isDirect = this.prng.chance(0.5);
    const request = { keyspace, key, read: LINEARIZABLE };
    if (!isDirect) {
      const { route, header } = await this.client.directory.lookup(request);
      this.#note(startedAt, route, header.revision);
      return;
    }
    const { directory } = this.prng.pick(this.#servers).services;
    const answer = await directory.lookup(request, { timeoutMs: DIRECT_MS });
    if (answer.ok) this.#note(startedAt, answer.value.route, answer.value.header.revision);
  }

  async #range(keyspace: string, key: Uint8Array): Promise<void> {
    const { route } = await this.client.directory.lookup({ keyspace, key });
    const { rangeId } = route.descriptor;
    await this.client.directory.getRange({ rangeId, read: this.#someLevel() });
  }

  /** A list in small pages, all of one revision. */
  async #pages(keyspace: string): Promise<void> {
    let pageToken = "";
    do {
      const page = await this.client.directory.listRanges({ keyspace, pageSize: 2, pageToken });
      pageToken = page.nextPageToken;
      if (pageToken !== "") this.world.trace.count("pagedLists");
    } while (pageToken !== "");
  }

  #someLevel(): ReadOptions {
    const revision = this.client.seenRevision(SHARD);
    const kind = this.prng.nextInteger(0, 2);
    if (kind === 0 && revision !== undefined) return { kind: "atLeast", revision };
    return kind === 1 ? { kind: "local" } : LINEARIZABLE;
  }

  #note(startedAt: number, { descriptor }: Route, revision: number): void {
    const { rangeId, epoch, owner } = descriptor;
    this.world.operations.note({
      client: this.name,
      kind: "lookup",
      startedAt,
      endedAt: this.world.clock.nowMs(),
      rangeId,
      epoch,
      owner: owner?.nodeId,
      revision,
    });
  }
}
