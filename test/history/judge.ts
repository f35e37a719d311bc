/**
 * What clients saw, as records, and the judge of it: by positions, against the map that the watch
 * stream gives at every revision.
 *
 * The watch is the witness of what the log did; acknowledged answers must fit it exactly:
 * - every acknowledged grant, acceptance and release is there, at its revision, once;
 * - every change in it was asked for by somebody (acknowledged or of unknown outcome) or expired;
 * - every refusal was right at its revision; every read shows the map as it was at its revision;
 * - an answer's revision is at least that of everything acknowledged before the call began;
 * - epochs rise with every grant and never otherwise.
 */

import type { RangeRecord, RevisionChanges } from "../../src/wire/api.ts";

export type Operation = {
  readonly client: string;
  readonly startedAt: number;
  /** Infinity: never answered. */
  readonly endedAt: number;
} & (
  | {
      readonly kind: "grant";
      readonly rangeId: string;
      readonly nodeId: string;
      readonly expectedEpoch: number;
      readonly expectedDescriptorRevision: number;
      readonly outcome: GrantOutcome;
    }
  | {
      readonly kind: "release" | "accept";
      readonly rangeId: string;
      readonly nodeId: string;
      readonly epoch: number;
      readonly outcome:
        | { readonly kind: "done" | "refused"; readonly revision: number }
        | { readonly kind: "unknown" };
    }
  | {
      readonly kind: "lookup";
      readonly rangeId: string;
      readonly epoch: number;
      readonly owner: string | undefined;
      readonly revision: number;
    }
);

export type GrantOutcome =
  | { readonly kind: "granted" | "successorRecorded" | "alreadyOwner"; readonly revision: number }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown" };

export interface Witness {
  readonly startRevision: number;
  readonly start: readonly RangeRecord[];
  readonly changes: readonly RevisionChanges[];
}

/** Everything that does not fit; empty: the history is right. */
export function judge(operations: readonly Operation[], witness: Witness): string[] {
  const map = new MapOverTime(witness);
  const problems = [...map.problems];
  problems.push(...judgeOrder(operations));
  for (const operation of operations) {
    const problem = judgeOne(operation, map);
    if (problem !== undefined) problems.push(`${describe(operation)}: ${problem}`);
  }
  problems.push(...judgeCauses(operations, witness));
  return problems;
}

/** The map at every revision, from the watch. */
class MapOverTime {
  readonly problems: string[] = [];
  /** By range id, ascending by revision. */
  readonly #versions = new Map<string, { revision: number; record: RangeRecord }[]>();

  constructor({ startRevision, start, changes }: Witness) {
    for (const record of start) {
      this.#versions.set(record.descriptor.rangeId, [{ revision: startRevision, record }]);
    }
    let last = startRevision;
    for (const { revision, changes: inRevision } of changes) {
      if (revision <= last) this.problems.push(`the watch repeats or goes back at ${revision}`);
      last = revision;
      for (const { after } of inRevision) {
        if (after !== undefined) this.#add(revision, after);
      }
    }
  }

  at(rangeId: string, revision: number): RangeRecord | undefined {
    const versions = this.#versions.get(rangeId) ?? [];
    return versions.findLast((version) => version.revision <= revision)?.record;
  }

  before(rangeId: string, revision: number): RangeRecord | undefined {
    return this.at(rangeId, revision - 1);
  }

  #add(revision: number, record: RangeRecord): void {
    const { rangeId, epoch } = record.descriptor;
    const versions = this.#versions.get(rangeId) ?? [];
    const previous = versions.at(-1)?.record.descriptor;
    if (previous !== undefined && epoch < previous.epoch) {
      this.problems.push(`range ${rangeId}: epoch ${epoch} after ${previous.epoch}`);
    }
    const isNewOwner =
      record.descriptor.owner !== undefined &&
      record.descriptor.owner.nodeId !== previous?.owner?.nodeId;
    if (isNewOwner && epoch !== revision) {
      this.problems.push(`range ${rangeId}: a new owner at ${revision} has epoch ${epoch}`);
    }
    versions.push({ revision, record });
    this.#versions.set(rangeId, versions);
  }
}

function judgeOne(operation: Operation, map: MapOverTime): string | undefined {
  switch (operation.kind) {
    case "lookup": {
      const record = map.at(operation.rangeId, operation.revision);
      const { epoch, owner } = record?.descriptor ?? {};
      if (epoch === operation.epoch && owner?.nodeId === operation.owner) return undefined;
      return `at ${operation.revision} the map had epoch ${epoch}, owner ${owner?.nodeId}`;
    }
    case "grant":
      return judgeGrant(operation, map);
    case "accept":
    case "release": {
      const { outcome, rangeId, nodeId, epoch } = operation;
      if (outcome.kind === "unknown") return undefined;
      const isHeld = (record: RangeRecord | undefined): boolean =>
        record?.descriptor.owner?.nodeId === nodeId && record.descriptor.epoch === epoch;
      const wasHeld = isHeld(map.before(rangeId, outcome.revision));
      const after = map.at(rangeId, outcome.revision);
      // What is due ends first: by the very entry that refuses it then.
      if (outcome.kind === "refused") {
        return wasHeld && isHeld(after) ? "it was refused to its owner" : undefined;
      }
      if (!wasHeld) return `it was done for ${nodeId}, which did not hold the range`;
      if (operation.kind === "accept") {
        return after?.acceptedEpoch === epoch ? undefined : "the acceptance is lost";
      }
      const isOver = after?.descriptor.owner?.nodeId !== nodeId || after.descriptor.epoch > epoch;
      return isOver ? undefined : "the release is lost";
    }
  }
}

function judgeGrant(
  operation: Extract<Operation, { kind: "grant" }>,
  map: MapOverTime,
): string | undefined {
  const { outcome, rangeId, nodeId, expectedEpoch, expectedDescriptorRevision } = operation;
  if (outcome.kind === "unknown" || outcome.kind === "refused") return undefined;
  const { revision } = outcome;
  const before = map.before(rangeId, revision)?.descriptor;
  if (before?.epoch !== expectedEpoch) return `it expected an epoch that was ${before?.epoch}`;
  if (before.descriptorRevision !== expectedDescriptorRevision) return "its descriptor was stale";
  const after = map.at(rangeId, revision);
  switch (outcome.kind) {
    case "granted": {
      if (before.owner !== undefined) return `the range was owned by ${before.owner.nodeId}`;
      const { owner, epoch } = after?.descriptor ?? {};
      return owner?.nodeId === nodeId && epoch === revision ? undefined : "the grant is lost";
    }
    case "successorRecorded":
      return after?.successor?.nodeId === nodeId ? undefined : "the successor is lost";
    case "alreadyOwner":
      return before.owner?.nodeId === nodeId ? undefined : "the node did not own it";
  }
}

/** Real-time order: what began after an acknowledgement has a revision that is not older. */
function judgeOrder(operations: readonly Operation[]): string[] {
  const problems: string[] = [];
  const byStart = operations.toSorted((a, b) => a.startedAt - b.startedAt);
  const byEnd = operations
    .filter((operation) => revisionOf(operation) !== undefined)
    .toSorted((a, b) => a.endedAt - b.endedAt);
  let floor = 0;
  let ended = 0;
  for (const operation of byStart) {
    for (; ended < byEnd.length; ended++) {
      const earlier = byEnd[ended];
      if (earlier === undefined || earlier.endedAt > operation.startedAt) break;
      floor = Math.max(floor, revisionOf(earlier) ?? 0);
    }
    const revision = revisionOf(operation);
    if (revision === undefined || revision >= floor) continue;
    problems.push(`${describe(operation)}: older than ${floor}, acknowledged before it began`);
  }
  return problems;
}

/** Every grant and release in the watch was asked for, and no request was applied twice. */
function judgeCauses(operations: readonly Operation[], witness: Witness): string[] {
  const problems: string[] = [];
  const happened = eventsOf(witness);
  const acknowledged = new Set<string>();
  const unknown = new Map<string, number>();
  for (const operation of operations) {
    if (operation.kind === "lookup") continue;
    const { kind, rangeId, nodeId, outcome } = operation;
    if ("revision" in outcome) acknowledged.add(`${kind} ${rangeId} ${outcome.revision}`);
    // The library asks again when an answer is lost. A repeated release finds no owner, a repeated
    // acceptance nothing to do: what is told then is not where it took effect.
    const hasNoEvent =
      "revision" in outcome && !happened.has(`${kind} ${rangeId} ${outcome.revision}`);
    if (outcome.kind === "unknown" || (kind !== "grant" && hasNoEvent)) {
      const key = `${kind} ${rangeId} ${nodeId}`;
      unknown.set(key, (unknown.get(key) ?? 0) + 1);
    }
  }
  const waiting = new Set<string>();
  for (const { revision, changes } of witness.changes) {
    const inherited = new Set<string>();
    for (const { before, after, cause } of changes) {
      const rangeId = (after ?? before)?.descriptor.rangeId ?? "";
      if (cause === "successorSet") waiting.add(rangeId);
      if (cause === "restarted") inherited.add(rangeId);
      const kind = CAUSED_BY[cause];
      if (kind === undefined) continue;
      // A recorded successor is granted by the entry that ends the lease before.
      if (cause === "granted" && waiting.delete(rangeId)) continue;
      // An import has asked for it, on behalf of the node when it comes.
      const isIntended = cause === "granted" && before?.intendedNodeId === nodeOf(after);
      if (isIntended) continue;
      // A proven restart: the node's next process gets what the one before it held.
      if (cause === "granted" && inherited.delete(rangeId)) continue;
      if (acknowledged.has(`${kind} ${rangeId} ${revision}`)) continue;
      const nodeId = nodeOf(cause === "released" ? before : after);
      const key = `${kind} ${rangeId} ${nodeId}`;
      const left = unknown.get(key) ?? 0;
      if (left === 0) problems.push(`nobody asked for "${cause}" of ${rangeId} at ${revision}`);
      else unknown.set(key, left - 1);
    }
  }
  return problems;
}

/** "kind rangeId revision" of everything that the watch told. */
function eventsOf({ changes }: Witness): ReadonlySet<string> {
  const events = new Set<string>();
  for (const { revision, changes: inRevision } of changes) {
    for (const { before, after, cause } of inRevision) {
      const rangeId = (after ?? before)?.descriptor.rangeId ?? "";
      events.add(`${CAUSED_BY[cause]} ${rangeId} ${revision}`);
    }
  }
  return events;
}

const CAUSED_BY: Readonly<Record<string, string>> = {
  granted: "grant",
  released: "release",
  accepted: "accept",
};

function nodeOf(record: RangeRecord | undefined): string {
  return record?.descriptor.owner?.nodeId ?? "";
}

function revisionOf(operation: Operation): number | undefined {
  if (operation.kind === "lookup") return operation.revision;
  return "revision" in operation.outcome ? operation.outcome.revision : undefined;
}

function describe(operation: Operation): string {
  const { client, kind, rangeId } = operation;
  return `${client} ${kind} ${rangeId} (revision ${revisionOf(operation) ?? "none"})`;
}
