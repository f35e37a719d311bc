// What the fence's tests share: answers by hand, an epoch memory without a disk, and a keeper that
// is driven step by step.
import type { Epoch, GroupId, Incarnation, MonotonicMs, Revision } from "../../src/base/brands.ts";
import type { Span } from "../../src/base/span.ts";
import { EpochMap } from "../../src/fence/epoch-map.ts";
import type { EpochMemory, RememberedEpoch } from "../../src/fence/epochs.ts";
import { LeaseKeeper } from "../../src/fence/lease.ts";
import type { LeaseEvent, TimelessLeaseInput } from "../../src/fence/lease-steps.ts";
import type * as api from "../../src/wire/api.ts";
import { header, record, type RecordFields } from "../client/support.ts";

export const OWNER: api.Owner = { nodeId: "n1", incarnation: 1 as Incarnation };
export const GROUP = 1 as GroupId;

export const ms = (value: number): MonotonicMs => value as MonotonicMs;
export const revision = (value: number): Revision => value as Revision;
export const epoch = (value: number): Epoch => value as Epoch;

/** A range of ours. */
export function ours(epochValue: number, fields: RecordFields = {}): api.RangeRecord {
  return record({ epoch: epochValue, node: "n1", ...fields });
}

export function durations(durationMs = 10_000, keyspace = "k"): api.LeaseDuration[] {
  return [{ keyspace, durationMs, renewIntervalMs: Math.floor(durationMs / 3) }];
}

export function renewAnswer(
  atRevision: number,
  changes: readonly api.HoldChange[] = [],
  terms: readonly api.LeaseDuration[] = durations(),
): api.RenewAnswer {
  return { header: header({ revision: atRevision }), durations: terms, changes };
}

export function holdChange(
  kind: api.HoldChangeKind,
  atRevision: number,
  range: api.RangeRecord,
): api.HoldChange {
  return { kind, revision: revision(atRevision), range };
}

export class MemoryEpochs implements EpochMemory {
  readonly remembered: RememberedEpoch[] = [];
  readonly #epochs = new EpochMap();

  remember(epochs: readonly RememberedEpoch[]): Promise<void> {
    this.remembered.push(...epochs);
    this.#epochs.apply(this.#epochs.changeFor(epochs));
    return Promise.resolve();
  }

  highWater(keyspace: string, span: Span): Epoch {
    return this.#epochs.highWater(keyspace, span);
  }
}

/** A keeper with a hand-moved clock; answers the kinds of the events of each step. */
export class Bench {
  readonly keeper = new LeaseKeeper(OWNER, GROUP);
  nowMs = 0;

  at(nowMs: number): this {
    this.nowMs = nowMs;
    return this;
  }

  step(input: TimelessLeaseInput): readonly LeaseEvent[] {
    return this.keeper.step({ ...input, nowMs: ms(this.nowMs) });
  }

  kinds(input: TimelessLeaseInput): string[] {
    return this.step(input).map((event) => event.kind);
  }
}
