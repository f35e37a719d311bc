// The lines of `cadastre watch`: one for each change, for people and as JSON. A hash keyspace's
// keys are tokens, so the kind of each keyspace must be known before its lines are made.
import type { Cause, Header, RangeChange, RangeRecord, WatchFrame } from "../../wire/api.ts";
import type { JsonValue } from "../context.ts";
import type { KindOf } from "../directory/keyspace-kinds.ts";
import { tokenText } from "../directory/options.ts";
import { rangeJson } from "../render/json.ts";
import { spanText } from "../render/keys.ts";
import { holderText, ownerText } from "../render/owner.ts";
import { countText } from "../render/table.ts";

type SnapshotFrame = Extract<WatchFrame, { kind: "snapshot" }>;

const CAUSE_TEXT: Readonly<Record<Cause, string>> = {
  keyspaceCreated: "keyspace created",
  rangesDefined: "ranges defined",
  imported: "imported",
  granted: "granted",
  released: "released",
  expired: "expired",
  successorSet: "successor set",
  successorLifted: "successor lifted",
  accepted: "accepted",
  restarted: "owner restarted",
};

/** `rev 231  demo  [g, m)  epoch 214 -> 231  node-3 -> node-8  granted` */
export function changeLine(revision: number, change: RangeChange, kindOf: KindOf): string {
  const { before, after, cause } = change;
  const record = after ?? before;
  if (record === undefined) return `rev ${revision}  ${CAUSE_TEXT[cause]}`;
  const { keyspace, span } = record.descriptor;
  return [
    `rev ${revision}`,
    keyspace,
    spanText(span, kindOf(keyspace)),
    `epoch ${arrow(before?.descriptor.epoch, after?.descriptor.epoch)}`,
    arrow(ownerOf(before), ownerOf(after)),
    detailOf(change),
  ].join("  ");
}

export function changeJson(
  revision: number,
  change: RangeChange,
  kindOf: KindOf,
): Readonly<Record<string, JsonValue>> {
  const record = (one: RangeRecord | undefined): JsonValue =>
    one === undefined ? null : rangeJson(one, kindOf(one.descriptor.keyspace));
  return {
    kind: "change",
    revision: String(revision),
    cause: change.cause,
    before: record(change.before),
    after: record(change.after),
  };
}

/** `rev 200  snapshot  demo: 4 ranges, 1 unowned; ring: 6 ranges` */
export function snapshotLine(frame: SnapshotFrame): string {
  const counts = [...countByKeyspace(frame.ranges)].map(([keyspace, { ranges, unowned }]) => {
    const without = unowned === 0 ? "" : `, ${unowned} unowned`;
    return `${keyspace}: ${countText(ranges, "range")}${without}`;
  });
  const why = frame.afterCompaction ? " (the token was too old: this replaces what you had)" : "";
  const what = counts.length === 0 ? "no range matches" : counts.join("; ");
  return `rev ${frame.header.revision}  snapshot  ${what}${why}`;
}

/** One line of a range in a snapshot. */
export function snapshotRangeLine(record: RangeRecord, kindOf: KindOf): string {
  const { keyspace, span, epoch } = record.descriptor;
  return [
    "",
    keyspace,
    spanText(span, kindOf(keyspace)),
    `epoch ${epoch}`,
    holderText(record),
  ].join("  ");
}

export function snapshotJson(
  frame: SnapshotFrame,
  kindOf: KindOf,
  isFull: boolean,
): Readonly<Record<string, JsonValue>> {
  const keyspaces = [...countByKeyspace(frame.ranges)].map(([keyspace, { ranges, unowned }]) => ({
    keyspace,
    rangeCount: String(ranges),
    unownedCount: String(unowned),
  }));
  const ranges = frame.ranges.map((one) => rangeJson(one, kindOf(one.descriptor.keyspace)));
  return {
    kind: "snapshot",
    revision: String(frame.header.revision),
    afterCompaction: frame.afterCompaction,
    keyspaces,
    ...(isFull ? { ranges } : {}),
  };
}

export function progressLine(header: Header): string {
  return `rev ${header.revision}  progress  group ${header.group}, server ${header.serverId}`;
}

/** The frame's token on its last line; no other line may be resumed after. */
export function withToken(
  json: Readonly<Record<string, JsonValue>>,
  frame: WatchFrame,
  isLast: boolean,
): JsonValue {
  const token = isLast ? frame.resumeToken : undefined;
  return {
    ...json,
    group: frame.header.group,
    resumeToken: token === undefined ? null : tokenText(token),
  };
}

function detailOf({ before, after, cause }: RangeChange): string {
  const text = CAUSE_TEXT[cause];
  if (cause === "successorSet") {
    const asked = (after?.handOverRevision ?? 0) === 0 ? "" : ", hand-over asked for";
    return `${text}: ${after?.successor?.nodeId ?? ""}${asked}`;
  }
  if (cause === "successorLifted") return `${text}: ${before?.successor?.nodeId ?? ""}`;
  if (cause === "accepted") return `${text} epoch ${after?.acceptedEpoch ?? 0}`;
  return text;
}

function ownerOf(record: RangeRecord | undefined): string | undefined {
  if (record === undefined) return undefined;
  return ownerText(record.descriptor.owner, record.intendedNodeId);
}

function arrow<T extends string | number>(before: T | undefined, after: T | undefined): string {
  if (before === undefined || before === after) return String(after ?? "-");
  return `${before} -> ${after ?? "gone"}`;
}

function countByKeyspace(
  ranges: readonly RangeRecord[],
): Map<string, { ranges: number; unowned: number }> {
  const counts = new Map<string, { ranges: number; unowned: number }>();
  for (const { descriptor } of ranges) {
    const count = counts.get(descriptor.keyspace) ?? { ranges: 0, unowned: 0 };
    counts.set(descriptor.keyspace, count);
    count.ranges++;
    if (descriptor.owner === undefined) count.unowned++;
  }
  return counts;
}
