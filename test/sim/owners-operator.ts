// The operator of the simulation, and its readers: it grants what nobody owns, records and
// withdraws successors, and looks keys up, each time held to what was acknowledged before.
import type { Prng } from "../../src/base/prng.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { ok } from "../../src/base/result.ts";
import { Client } from "../../src/client/client.ts";
import { CoordinationError } from "../../src/client/errors.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { RangeRecord } from "../../src/wire/api.ts";
import type { ApiServices } from "../../src/wire/api-services.ts";
import { must, type OwnersCheckers } from "./owners-checkers.ts";
import { ProcessClock } from "./owners-clock.ts";
import type { OwnersNetwork, Party } from "./owners-network.ts";
import { type SampleKey, sampleKey } from "./owners-process.ts";
import type { OwnersTrace } from "./owners-trace.ts";
import { SHARD } from "./virtual-cluster.ts";

const LINEARIZABLE = { kind: "linearizable" } as const;
const LOOKUP_MS = 2_000;
/** Ranges of a keyspace end at these keys; each key is looked at as its range's sample. */
const SPLIT_KEYS = ["d", "h", "m", "r"];

export class Operator implements Party {
  readonly name = "operator";
  readonly clock: ProcessClock;
  readonly client: Client;
  readonly samples: Map<string, SampleKey> = new Map();
  /** As last listed. */
  ranges: readonly RangeRecord[] = [];
  readonly #prng: Prng;
  readonly #trace: OwnersTrace;
  readonly #checkers: OwnersCheckers;
  readonly #nodeIds: readonly string[];
  readonly #keyspaces: string[] = [];
  /** Asked directly as well: a client avoids those that lag behind. */
  readonly #servers: readonly ApiServices[];

  constructor(options: {
    readonly clock: VirtualClock;
    readonly network: OwnersNetwork;
    readonly prng: Prng;
    readonly trace: OwnersTrace;
    readonly checkers: OwnersCheckers;
    readonly nodeIds: readonly string[];
  }) {
    this.#prng = options.prng;
    this.#trace = options.trace;
    this.#checkers = options.checkers;
    this.#nodeIds = options.nodeIds;
    this.clock = new ProcessClock(options.clock, 1);
    const { network } = options;
    const channels = network.channels(this);
    this.#servers = network.endpoints.map((endpoint) => channels(endpoint).services);
    this.client = new Client({
      endpoints: network.endpoints,
      channels,
      clock: this.clock,
      timers: this.clock,
      prng: options.prng.clone(),
      clientId: this.name,
    });
  }

  async createKeyspaces(leaseDurationsMs: readonly number[]): Promise<void> {
    const deadline = { deadlineMs: 30_000 };
    for (const [at, leaseDurationMs] of leaseDurationsMs.entries()) {
      const name = `space${at}`;
      const settings = {
        kind: "range",
        hashFunction: undefined,
        leaseMode: "exclusive",
        dataKind: "none",
        leaseDurationMs,
        renewIntervalMs: Math.floor(leaseDurationMs / 3),
      } as const;
      await this.client.keyspaces.createKeyspace({ name, ...settings }, deadline);
      const splitKeys = SPLIT_KEYS.map(utf8ToBytes);
      await this.client.keyspaces.defineRanges({ keyspace: name, splitKeys }, deadline);
      this.#keyspaces.push(name);
      for (const start of ["", ...SPLIT_KEYS]) {
        const key = utf8ToBytes(`${start}a`);
        const sample = { keyspace: name, key, name: `${name}/${start}a` };
        this.samples.set(sampleKey(name, utf8ToBytes(start)), sample);
      }
    }
  }

  /** One act of whatever comes to mind. */
  act(): Promise<void> {
    return this.#tolerant(async () => {
      await this.list();
      const range = this.#prng.pick(this.ranges);
      const isWithdrawn = range.successor !== undefined && this.#prng.chance(0.2);
      if (isWithdrawn) await this.#withdraw(range);
      else await this.grant(range, this.#prng.pick(this.#nodeIds), false);
    });
  }

  /** Grants whatever nobody owns. */
  async grantAll(): Promise<void> {
    await this.#tolerant(() => this.list());
    for (const range of this.ranges) {
      if (range.descriptor.owner !== undefined) continue;
      await this.#tolerant(() => this.grant(range, this.#prng.pick(this.#nodeIds), true));
    }
  }

  /** A linearizable look-up never shows less than was acknowledged before it was asked. */
  lookup(): Promise<void> {
    return this.#tolerant(async () => {
      const { keyspace, key, name } = this.#prng.pick([...this.samples.values()]);
      const floor = this.#checkers.acknowledged.get(name) ?? 0;
      const answer = this.#prng.chance(0.3)
        ? ok(await this.client.directory.lookup({ keyspace, key }))
        : await this.#prng
            .pick(this.#servers)
            .directory.lookup({ keyspace, key, read: LINEARIZABLE }, { timeoutMs: LOOKUP_MS });
      if (!answer.ok) return;
      const { epoch } = answer.value.route.descriptor;
      must(epoch >= floor, `a look-up of ${name} shows epoch ${epoch} after ${floor}`);
      this.#checkers.acknowledge(name, epoch);
      this.#trace.count("lookups");
    });
  }

  async list(): Promise<void> {
    const ranges: RangeRecord[] = [];
    for (const keyspace of this.#keyspaces) {
      const page = await this.client.directory.listRanges({ keyspace });
      ranges.push(...page.ranges);
    }
    this.ranges = ranges;
  }

  async grant({ descriptor }: RangeRecord, nodeId: string, onlyUnowned: boolean): Promise<void> {
    const { rangeId, epoch, descriptorRevision, keyspace, span } = descriptor;
    const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
    const items = [{ rangeId, ...expected, nodeId, incarnation: undefined }];
    const answer = await this.client.ownership.grant({ group: SHARD, items, onlyUnowned });
    const [outcome] = answer.outcomes;
    const sample = this.samples.get(sampleKey(keyspace, span.startKey));
    if (outcome === undefined || sample === undefined) throw new Error("one grant, one outcome");
    this.#trace.say(`operator: ${rangeId} to ${nodeId}: ${outcome.kind}`);
    this.#checkers.acknowledge(sample.name, outcome.range.descriptor.epoch);
  }

  async #withdraw({ descriptor }: RangeRecord): Promise<void> {
    const { rangeId, epoch, descriptorRevision } = descriptor;
    const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
    await this.client.ownership.withdrawSuccessor({ group: SHARD, rangeId, ...expected });
    this.#trace.count("successorsWithdrawn");
  }

  async #tolerant(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      this.#trace.say(`operator: ${error.reason}, ${error.outcome}`);
      if (error.outcome === "unknown") this.#trace.count("unknownOutcomes");
    }
  }
}
