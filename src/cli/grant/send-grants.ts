// Sends grants in requests of at most 1,000 items, each request all or nothing. When a request is
// refused because some of its ranges have changed since they were read, they are read again: those
// that are still unowned are sent with what they are now, the others are left alone and named.
import { compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import type { Span } from "../../base/span.ts";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { CoordinationError } from "../../client/errors.ts";
import type { GrantOutcome, RangeRecord } from "../../wire/api.ts";
import { ITEMS_MAX } from "../../wire/limits.ts";
import { allRanges } from "../directory/ranges.ts";
import type { Assignment } from "./spread.ts";

/** Re-readings of one request's ranges before it is given up. */
const ROUNDS_MAX = 5;

export type RangeAssignment = Assignment<RangeRecord>;

export interface DoneGrant {
  readonly nodeId: string;
  readonly outcome: GrantOutcome;
}

/** A range that was left alone because it changed hands, or went away, meanwhile. */
export interface SkippedGrant {
  readonly rangeId: string;
  readonly nodeId: string;
  readonly why: string;
}

/** Every assignment is in exactly one of the lists. */
export interface GrantReport {
  readonly done: DoneGrant[];
  readonly skipped: SkippedGrant[];
  /** In the request that failed: refused as a whole, or with an unknown outcome. */
  failed: readonly RangeAssignment[];
  notSent: readonly RangeAssignment[];
  /** Why not everything was done; undefined: it was. */
  error: CoordinationError | "interrupted" | undefined;
}

export interface GrantOptions {
  readonly onlyUnowned: boolean;
  readonly handOver: boolean;
  readonly call: CallOptions;
  /** Stops between two requests. */
  readonly signal: AbortSignal;
  readonly onProgress: (done: number) => void;
}

export async function sendGrants(
  client: Client,
  assignments: readonly RangeAssignment[],
  options: GrantOptions,
): Promise<GrantReport> {
  const report: GrantReport = { done: [], skipped: [], failed: [], notSent: [], error: undefined };
  const requests = requestsOf(assignments);
  for (const [at, request] of requests.entries()) {
    if (options.signal.aborted) {
      report.notSent = requests.slice(at).flat();
      report.error = "interrupted";
      return report;
    }
    try {
      await sendRequest(client, request, options, report);
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      report.error = error;
      report.failed = stillOpen(request, report);
      report.notSent = requests.slice(at + 1).flat();
      return report;
    }
    options.onProgress(report.done.length);
  }
  return report;
}

/** Items of one group each, in order, 1,000 at most. */
export function requestsOf(assignments: readonly RangeAssignment[]): RangeAssignment[][] {
  const requests: RangeAssignment[][] = [];
  for (const assignment of assignments) {
    const { group } = assignment.item.descriptor;
    const last = requests.at(-1);
    const fits = last?.[0]?.item.descriptor.group === group && last.length < ITEMS_MAX;
    if (fits) last.push(assignment);
    else requests.push([assignment]);
  }
  return requests;
}

async function sendRequest(
  client: Client,
  request: readonly RangeAssignment[],
  options: GrantOptions,
  report: GrantReport,
): Promise<void> {
  let rest = request;
  for (let round = 1; rest.length > 0; round++) {
    try {
      const answer = await sendOnce(client, rest, options);
      for (const [at, outcome] of answer.entries()) {
        report.done.push({ nodeId: rest[at]?.nodeId ?? "", outcome });
      }
      return;
    } catch (error) {
      const isStale = error instanceof CoordinationError && error.reason === "STALE_EPOCH";
      if (!isStale || round === ROUNDS_MAX) throw error;
      rest = await readAgain(client, rest, options, report);
    }
  }
}

async function sendOnce(
  client: Client,
  items: readonly RangeAssignment[],
  options: GrantOptions,
): Promise<readonly GrantOutcome[]> {
  const first = items[0];
  if (first === undefined) return [];
  const answer = await client.ownership.grant(
    {
      group: first.item.descriptor.group,
      onlyUnowned: options.onlyUnowned,
      handOver: options.handOver,
      items: items.map(({ item, nodeId }) => ({
        rangeId: item.descriptor.rangeId,
        expectedEpoch: item.descriptor.epoch,
        expectedDescriptorRevision: item.descriptor.descriptorRevision,
        nodeId,
        incarnation: undefined,
      })),
    },
    options.call,
  );
  return answer.outcomes;
}

/** What of the request may be sent again, as it stands now; the rest is reported as skipped. */
async function readAgain(
  client: Client,
  request: readonly RangeAssignment[],
  options: GrantOptions,
  report: GrantReport,
): Promise<RangeAssignment[]> {
  const present = await presentRecords(client, request, options.call);
  const rest: RangeAssignment[] = [];
  for (const { item, nodeId } of request) {
    const { rangeId, epoch, descriptorRevision } = item.descriptor;
    const now = present.get(rangeId);
    const isSame =
      now?.descriptor.epoch === epoch && now.descriptor.descriptorRevision === descriptorRevision;
    if (now !== undefined && (isSame || now.descriptor.owner === undefined)) {
      rest.push({ item: now, nodeId });
    } else {
      report.skipped.push({ rangeId, nodeId, why: whyOf(now) });
    }
  }
  return rest;
}

function whyOf(now: RangeRecord | undefined): string {
  if (now === undefined) return "is no longer there";
  const { epoch, owner } = now.descriptor;
  return `changed meanwhile: owned by ${owner?.nodeId ?? "nobody"} at epoch ${epoch}`;
}

async function presentRecords(
  client: Client,
  request: readonly RangeAssignment[],
  call: CallOptions,
): Promise<ReadonlyMap<string, RangeRecord>> {
  const present = new Map<string, RangeRecord>();
  for (const keyspace of new Set(request.map(({ item }) => item.descriptor.keyspace))) {
    const ofKeyspace = request.filter(({ item }) => item.descriptor.keyspace === keyspace);
    const span = hullOf(ofKeyspace.map(({ item }) => item.descriptor.span));
    for (const record of await allRanges(client, { keyspace, span }, call)) {
      present.set(record.descriptor.rangeId, record);
    }
  }
  return present;
}

/** From the first to the last of the spans, which are in key order or few. */
function hullOf(spans: readonly Span[]): Span {
  const sorted = spans.toSorted((a, b) => compareBytes(a.startKey, b.startKey));
  const [first, last] = [sorted[0], sorted.at(-1)];
  return { startKey: first?.startKey ?? EMPTY_BYTES, endKey: last?.endKey };
}

function stillOpen(
  request: readonly RangeAssignment[],
  report: GrantReport,
): readonly RangeAssignment[] {
  const skipped = new Set(report.skipped.map(({ rangeId }) => rangeId));
  return request.filter(({ item }) => !skipped.has(item.descriptor.rangeId));
}
