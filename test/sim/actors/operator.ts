/**
 * Operators: they create the keyspaces, grant what nobody owns, record and withdraw successors, and
 * ask again under the same request id when they were not told what became of a grant.
 */

import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { GrantItem, RangeRecord } from "../../../src/wire/api.ts";
import type { GrantOutcome, Operation } from "../../history/judge.ts";
import { SHARD } from "../virtual-cluster.ts";
import { Administrator, keyspaceNamed } from "./administrator.ts";
import { SPLIT_KEYS } from "./keyspaces.ts";

/** "wait": after the lease; "handOver": the owner is asked to hand over at once (law 12). */
export type GrantKind = "onlyUnowned" | "wait" | "handOver";

const SETUP_RETRY_MS = 200;
/** An impatient operator meets more unknown outcomes. */
const IMPATIENT_MS = 150;
const PATIENT_MS = 5_000;
const RESOLVE_MS = 8_000;

export class Operator extends Administrator {
  /** As last listed. */
  ranges: readonly RangeRecord[] = [];

  /** Makes the keyspaces with the ranges that have sample keys, however long it takes. */
  async createKeyspaces(leaseDurationsMs: readonly number[]): Promise<void> {
    for (const [at, leaseDurationMs] of leaseDurationsMs.entries()) {
      const name = `space${at}`;
      const request = keyspaceNamed(name, leaseDurationMs);
      await this.#untilDone(() => this.client.keyspaces.createKeyspace(request));
      const splitKeys = SPLIT_KEYS.map(utf8ToBytes);
      await this.#untilDone(() =>
        this.client.keyspaces.defineRanges({ keyspace: name, splitKeys }),
      );
      this.samples.add(name);
    }
  }

  /** An attempt of unknown outcome may have succeeded: then the next one finds it done. */
  async #untilDone(attempt: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        if (error.reason === "ALREADY_EXISTS") return;
        await this.clock.passing(SETUP_RETRY_MS);
      }
    }
  }

  /** One act of whatever comes to mind. */
  async act(): Promise<void> {
    await this.list();
    if (this.ranges.length === 0) return;
    const range = this.prng.pick(this.ranges);
    if (range.successor !== undefined && this.prng.chance(0.2)) return this.#withdraw(range);
    const kind = this.prng.pick(["wait", "handOver"] as const);
    return this.grant(range, this.prng.pick(this.nodeIds), kind);
  }

  /** Grants whatever nobody owns. */
  async grantAll(): Promise<void> {
    await this.list();
    for (const range of this.ranges) {
      if (range.descriptor.owner !== undefined) continue;
      await this.tolerant(() => this.grant(range, this.prng.pick(this.nodeIds), "onlyUnowned"));
    }
  }

  async list(): Promise<void> {
    const ranges: RangeRecord[] = [];
    for (const keyspace of this.samples.keyspaces) {
      const page = await this.client.directory.listRanges({ keyspace });
      ranges.push(...page.ranges);
    }
    this.ranges = ranges;
  }

  async grant({ descriptor }: RangeRecord, nodeId: string, grantKind: GrantKind): Promise<void> {
    const { rangeId, epoch, descriptorRevision } = descriptor;
    const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
    const item: GrantItem = { rangeId, nodeId, incarnation: undefined, ...expected };
    const operation: Operation = {
      client: this.name,
      kind: "grant",
      startedAt: this.world.clock.nowMs(),
      endedAt: Number.POSITIVE_INFINITY,
      rangeId,
      nodeId,
      ...expected,
      outcome: { kind: "unknown" },
    };
    const end = this.world.operations.begin(operation);
    const outcome = await this.#submit(item, grantKind);
    const endedAt = outcome?.kind === "unknown" ? operation.endedAt : this.world.clock.nowMs();
    end(outcome && { ...operation, endedAt, outcome });
    this.world.trace.say(`${this.name}: ${rangeId} to ${nodeId}: ${outcome?.kind ?? "no effect"}`);
  }

  /** undefined: certainly not applied. An unknown outcome is asked for again by its request id. */
  async #submit(item: GrantItem, grantKind: GrantKind): Promise<GrantOutcome | undefined> {
    const { trace } = this.world;
    const requestId = await this.client.newRequestId(SHARD).catch(ignoreFailure);
    if (requestId === undefined) return undefined;
    const how = { onlyUnowned: grantKind === "onlyUnowned", handOver: grantKind === "handOver" };
    const request = { requestId, group: SHARD, items: [item], ...how };
    const firstMs = this.prng.chance(0.5) ? IMPATIENT_MS : PATIENT_MS;
    for (const deadlineMs of [firstMs, RESOLVE_MS]) {
      try {
        const answer = await this.client.ownership.grant(request, { deadlineMs });
        if (deadlineMs === RESOLVE_MS) trace.count("outcomesResolved");
        const kind = answer.outcomes[0]?.kind ?? "granted";
        return { kind, revision: answer.header.revision };
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        if (error.outcome === "unknown") {
          trace.count("unknownOutcomes");
          continue;
        }
        this.client.abandonRequestId(SHARD, requestId);
        const isDecision = error.retry === "never" || error.retry === "refresh";
        const isForgotten = error.reason === "EXPIRED_ID";
        if (isDecision && !isForgotten) return { kind: "refused", reason: error.reason };
        // The earlier attempt may have had an effect all the same.
        return deadlineMs === RESOLVE_MS ? { kind: "unknown" } : undefined;
      }
    }
    return { kind: "unknown" };
  }

  async #withdraw({ descriptor }: RangeRecord): Promise<void> {
    const { rangeId, epoch, descriptorRevision } = descriptor;
    const expected = { expectedEpoch: epoch, expectedDescriptorRevision: descriptorRevision };
    await this.client.ownership.withdrawSuccessor({ group: SHARD, rangeId, ...expected });
  }
}

function ignoreFailure(error: unknown): undefined {
  if (error instanceof CoordinationError) return undefined;
  throw error;
}
