/**
 * What a renewal extends, computed from the view that was sent and the changes that the answer
 * carries (law 8). Nothing that was learnt elsewhere in the meantime takes part here: a later view
 * may take away from the result, never add to it.
 */

import type { Epoch, MonotonicMs, Revision } from "../base/brands.ts";
import { type Span, spansOverlap } from "../base/span.ts";
import type { HoldChange, KeyspaceSpan, RangeRecord, RenewAnswer } from "../wire/api.ts";

/** The directory refuses a renewal with more exceptions than this. */
export const EXCEPTIONS_MAX = 256;

/** A renewal as it was sent: what its answer is to be understood by. */
export interface SentRenewal {
  /** Read before the first transmission; the same for every retransmission. */
  readonly firstSentMs: MonotonicMs;
  readonly asOf: Revision;
  readonly except: readonly KeyspaceSpan[];
  /** All that this incarnation held at `asOf`, by range id. */
  readonly view: ReadonlyMap<string, RangeRecord>;
}

export interface RenewalEffect {
  /** Extended at the service, with the duration in force there. */
  readonly extended: readonly {
    readonly rangeId: string;
    readonly epoch: Epoch;
    readonly durationMs: number;
    readonly renewIntervalMs: number;
  }[];
  /** Seen to end in (asOf, revision]. */
  readonly ended: readonly {
    readonly rangeId: string;
    readonly epoch: Epoch;
    readonly why: "released" | "expired";
  }[];
  /** Successors set or taken back in (asOf, revision], the last change of each range. */
  readonly successors: readonly HoldChange[];
}

interface ViewEntry {
  readonly epoch: Epoch;
  readonly keyspace: string;
  readonly span: Span;
  readonly hasSuccessor: boolean;
}

/** undefined: the answer does not fit the renewal, and extends nothing. */
export function renewalEffect(
  sent: SentRenewal,
  answer: Pick<RenewAnswer, "header" | "durations" | "changes">,
): RenewalEffect | undefined {
  const { revision } = answer.header;
  if (!areInOrder(answer.changes, sent.asOf, revision)) return undefined;
  const view = new Map([...sent.view].map(([rangeId, record]) => [rangeId, entryOf(record)]));
  const ended: RenewalEffect["ended"][number][] = [];
  const successors = new Map<string, HoldChange>();
  for (const change of answer.changes) {
    if (change.kind === "successorSet" || change.kind === "successorLifted") {
      successors.set(change.range.descriptor.rangeId, change);
    }
    const end = applyChange(view, change);
    if (end !== undefined) ended.push(end);
  }
  const durations = new Map(answer.durations.map((duration) => [duration.keyspace, duration]));
  const extended: RenewalEffect["extended"][number][] = [];
  for (const [rangeId, entry] of view) {
    const duration = durations.get(entry.keyspace);
    if (duration === undefined || entry.epoch > sent.asOf || entry.hasSuccessor) continue;
    if (isExcepted(sent.except, entry)) continue;
    const { durationMs, renewIntervalMs } = duration;
    extended.push({ rangeId, epoch: entry.epoch, durationMs, renewIntervalMs });
  }
  return { extended, ended, successors: [...successors.values()] };
}

function areInOrder(changes: readonly HoldChange[], asOf: Revision, revision: Revision): boolean {
  if (revision < asOf) return false;
  let previous: number = asOf + 1;
  for (const change of changes) {
    if (change.revision < previous || change.revision > revision) return false;
    previous = change.revision;
  }
  return true;
}

/** Changes the view; answers what ended by it. */
function applyChange(
  view: Map<string, ViewEntry>,
  { kind, range }: HoldChange,
): RenewalEffect["ended"][number] | undefined {
  const { rangeId, epoch } = range.descriptor;
  const entry = view.get(rangeId);
  switch (kind) {
    case "granted":
      view.set(rangeId, entryOf(range));
      return undefined;
    case "released":
    case "expired":
      if (entry?.epoch === epoch) view.delete(rangeId);
      return { rangeId, epoch, why: kind };
    case "successorSet":
    case "successorLifted":
      if (entry?.epoch === epoch) {
        view.set(rangeId, { ...entry, hasSuccessor: kind === "successorSet" });
      }
      return undefined;
  }
}

function entryOf({ descriptor, successor }: RangeRecord): ViewEntry {
  const { epoch, keyspace, span } = descriptor;
  return { epoch, keyspace, span, hasSuccessor: successor !== undefined };
}

function isExcepted(except: readonly KeyspaceSpan[], entry: ViewEntry): boolean {
  return except.some(
    ({ keyspace, span }) => keyspace === entry.keyspace && spansOverlap(span, entry.span),
  );
}
