/**
 * Many clients that grant, accept, release and look up at random, each noting what it was told; and
 * a watch that notes what really happened.
 */

import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Epoch, GroupId, Revision } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { Client } from "../../../src/client/client.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type {
  Descriptor,
  GrantItem,
  Owner,
  RangeRecord,
  RevisionChanges,
} from "../../../src/wire/api.ts";
import { realClient } from "../support/clients.ts";
import { delay } from "../support/real-cluster.ts";
import type { GrantOutcome, Operation, Witness } from "../../history/judge.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

export const SHARD = 1 as GroupId;
const KEYSPACE = "history";
const RANGES = 48;
const RESOLVE_DEADLINE_MS = 20_000;

export interface WorkloadOptions {
  readonly endpoints: readonly string[];
  readonly clients: number;
  readonly nodes: number;
  /** Between two operations of one client. */
  readonly pauseMs: number;
}

export class Workload {
  readonly operations: Operation[] = [];
  /** Grants whose outcome was unknown and then found out by their request id. */
  resolved = 0;
  readonly #options: WorkloadOptions;
  readonly #admin: Client;
  readonly #owners: Owner[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #changes: RevisionChanges[] = [];
  #start: { revision: number; ranges: readonly RangeRecord[] } | undefined;
  #watched = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    this.#admin = realClient(options.endpoints, "history-admin");
  }

  /** Makes the keyspace and the nodes, then lets everything run. */
  async start(): Promise<void> {
    const { keyspaces } = this.#admin;
    const lease = { leaseDurationMs: 600_000, renewIntervalMs: 1_000 } as const;
    const kind = { kind: "range", hashFunction: undefined, leaseMode: "exclusive" } as const;
    await keyspaces.createKeyspace({ name: KEYSPACE, ...kind, dataKind: "none", ...lease });
    const splitKeys = Array.from({ length: RANGES - 1 }, (_, at) => keyOf(at + 1));
    await keyspaces.defineRanges({ keyspace: KEYSPACE, splitKeys });
    for (let node = 0; node < this.#options.nodes; node++) await this.#addNode(`node-${node}`);
    this.#running.push(this.#watch(), this.#renew());
    // What is read before the watch has begun could not be judged by it.
    while (this.#start === undefined) await delay(5);
    for (let at = 0; at < this.#options.clients; at++) this.#running.push(this.#runClient(at));
  }

  /** Ends the clients, then waits until the watch has seen all that they were told. */
  async finish(): Promise<Witness> {
    const watch = this.#running.shift();
    this.#stop.abort();
    await Promise.all(this.#running);
    const revision = Math.max(...this.operations.map(revisionOf));
    while (this.#watched < revision) await delay(20);
    this.#admin.close();
    await watch;
    if (this.#start === undefined) throw new Error("the watch has sent no snapshot");
    const { revision: startRevision, ranges: start } = this.#start;
    return { startRevision, start, changes: this.#changes };
  }

  async #addNode(nodeId: string): Promise<void> {
    const registration = { dataUuid: "0".repeat(31) + nodeId.slice(-1), zone: "z", labels: {} };
    const { incarnation } = await this.#admin.ownership.register({
      nodeId,
      addresses: ["127.0.0.1:1"],
      capacity: 0,
      ...registration,
    });
    const owner = { nodeId, incarnation };
    await this.#admin.ownership.openSession({ owner, group: SHARD });
    this.#owners.push(owner);
  }

  async #watch(): Promise<void> {
    const watcher = this.#admin.watch({ keyspace: KEYSPACE, failIfCompacted: true });
    for await (const frame of watcher) {
      if (frame.kind === "snapshot") {
        if (this.#start !== undefined) throw new Error("the watch started over");
        this.#start = { revision: frame.header.revision, ranges: frame.ranges };
      }
      if (frame.kind === "changes") this.#changes.push(...frame.revisions);
      this.#watched = frame.header.revision;
    }
  }

  async #renew(): Promise<void> {
    while (!this.#isOver) {
      const asOf = this.#admin.seenRevision(SHARD) ?? (0 as Revision);
      await Promise.all(
        this.#owners.map((owner) =>
          this.#admin.ownership
            .renew({ owner, group: SHARD, asOf, except: [], ...SENT_AGAIN })
            .catch(ignoreFailure),
        ),
      );
      await delay(1_000);
    }
  }

  async #runClient(at: number): Promise<void> {
    const name = `client-${at}`;
    const client = realClient(this.#options.endpoints, `history-${at}`);
    const prng = Prng.fromSeed(at + 1);
    // Impatient clients meet more unknown outcomes, and resolve them by their request ids.
    const deadlineMs = at % 2 === 0 ? 100 : 5_000;
    while (!this.#isOver) {
      const descriptor = await this.#lookup(client, name, prng);
      if (descriptor !== undefined && !this.#isOver) {
        await this.#change({ client, name, prng, deadlineMs, descriptor });
      }
      await delay(this.#options.pauseMs * prng.nextFraction() * 2);
    }
    client.close();
  }

  get #isOver(): boolean {
    return this.#stop.signal.aborted;
  }

  async #lookup(client: Client, name: string, prng: Prng): Promise<Descriptor | undefined> {
    const startedAt = performance.now();
    const key = keyOf(prng.nextInteger(0, RANGES - 1));
    try {
      const { header, route } = await client.directory.lookup({ keyspace: KEYSPACE, key });
      const { rangeId, epoch, owner } = route.descriptor;
      this.operations.push({
        client: name,
        kind: "lookup",
        startedAt,
        endedAt: performance.now(),
        rangeId,
        epoch,
        owner: owner?.nodeId,
        revision: header.revision,
      });
      return route.descriptor;
    } catch (error) {
      ignoreFailure(error);
      return undefined;
    }
  }

  async #change(call: Change): Promise<void> {
    const { descriptor, prng } = call;
    const { owner } = descriptor;
    if (owner === undefined || prng.chance(0.25)) {
      await this.#grant(call, prng.pick(this.#owners).nodeId);
    } else {
      await this.#hold(call, owner, prng.chance(0.6) ? "release" : "accept");
    }
  }

  async #grant(call: Change, nodeId: string): Promise<void> {
    const { name, descriptor } = call;
    const startedAt = performance.now();
    const { rangeId, epoch, descriptorRevision } = descriptor;
    const item: GrantItem = {
      rangeId,
      nodeId,
      expectedEpoch: epoch,
      expectedDescriptorRevision: descriptorRevision,
      incarnation: undefined,
    };
    const outcome = await this.#submitGrant(call, item);
    if (outcome === undefined) return;
    this.operations.push({
      client: name,
      kind: "grant",
      startedAt,
      endedAt: outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : performance.now(),
      rangeId,
      nodeId,
      expectedEpoch: epoch,
      expectedDescriptorRevision: descriptorRevision,
      outcome,
    });
  }

  /** undefined: certainly not applied. An unknown outcome is asked for again by its request id. */
  async #submitGrant(call: Change, item: GrantItem): Promise<GrantOutcome | undefined> {
    const { client } = call;
    const requestId = await client.newRequestId(SHARD).catch(ignoreFailure);
    if (requestId === undefined) return undefined;
    const request = { requestId, group: SHARD, items: [item], onlyUnowned: false };
    for (const deadlineMs of [call.deadlineMs, RESOLVE_DEADLINE_MS]) {
      try {
        const answer = await client.ownership.grant(request, { deadlineMs });
        const kind = answer.outcomes[0]?.kind ?? "granted";
        if (deadlineMs === RESOLVE_DEADLINE_MS) this.resolved++;
        return { kind, revision: answer.header.revision };
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        if (error.outcome === "unknown") continue;
        client.abandonRequestId(SHARD, requestId);
        return isDecision(error) ? { kind: "refused", reason: error.reason } : undefined;
      }
    }
    return { kind: "unknown" };
  }

  async #hold(call: Change, owner: Owner, kind: "release" | "accept"): Promise<void> {
    const { client, name, deadlineMs, descriptor } = call;
    const { rangeId, epoch } = descriptor;
    const startedAt = performance.now();
    const note = (outcome: HoldOutcome): void => {
      const endedAt = outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : performance.now();
      const { nodeId } = owner;
      const base = { client: name, startedAt, endedAt, rangeId, nodeId, epoch };
      this.operations.push({ ...base, kind, outcome });
    };
    try {
      const ranges = [{ rangeId, epoch: epoch as number as Epoch }];
      const request = { owner, group: SHARD, ranges };
      const answer = await client.ownership[kind](request, { deadlineMs });
      const refused = answer.outcomes[0]?.refused !== undefined;
      note({ kind: refused ? "refused" : "done", revision: answer.header.revision });
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      if (error.outcome === "unknown") note({ kind: "unknown" });
    }
  }
}

interface Change {
  readonly client: Client;
  readonly name: string;
  readonly prng: Prng;
  readonly deadlineMs: number;
  readonly descriptor: Descriptor;
}

type HoldOutcome = Extract<Operation, { kind: "release" | "accept" }>["outcome"];

function keyOf(at: number): Uint8Array {
  return at === 0 ? utf8ToBytes("") : utf8ToBytes(String(at).padStart(3, "0"));
}

function revisionOf(operation: Operation): number {
  if (operation.kind === "lookup") return operation.revision;
  return "revision" in operation.outcome ? operation.outcome.revision : 0;
}

/** Refusals that the group decided on, not failures on the way to it. */
function isDecision(error: CoordinationError): boolean {
  return error.retry === "never" || error.retry === "refresh";
}

function ignoreFailure(error: unknown): undefined {
  if (error instanceof CoordinationError) return undefined;
  throw error;
}
