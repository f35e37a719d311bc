// What happens to a storage node's seat, one line each: for people, and as JSON. The caller adds
// the time of day.
import type { SeatEvent } from "../../fence/seat-events.ts";
import type { JsonValue } from "../context.ts";
import type { KindOf } from "../directory/keyspace-kinds.ts";
import { durationToText } from "../render/duration.ts";
import { spanJson, spanText } from "../render/keys.ts";
import { countText } from "../render/table.ts";

type EndCause = Extract<SeatEvent, { kind: "ended" }>["why"];
type RangeEvent = Extract<SeatEvent, { readonly rangeId: string; readonly keyspace: string }>;

const ENDED_TEXT: Readonly<Record<EndCause, string>> = {
  released: "released",
  expired: "its lease ended in the directory",
  successor: "a successor took over",
  sessionEnded: "the session ended",
  refused: "the directory refused it",
  handedOver: "handed over",
};

/** The line without its time. */
export function seatEventText(event: SeatEvent, kindOf: KindOf): string {
  switch (event.kind) {
    case "registered":
      return registeredText(event);
    case "sessionOpened":
      return `session open in group ${event.group}${event.alreadyOpen ? " (it was already)" : ""}`;
    case "granted":
      return `granted    ${rangeText(event, kindOf)}`;
    case "accepted":
      return `accepted   ${rangeText(event, kindOf)}`;
    case "held":
      return `serving    ${rangeText(event, kindOf)}${event.again ? " again" : ""}, ${left(event)}`;
    case "renewed":
      return `renewed    ${countText(event.rangeCount, "range")}, ${left(event)}`;
    case "renewalFailed":
      return `renewal failed: ${event.reason}, ${left(event)}: ${event.message}`;
    case "sessionClosed":
      return `session closed in group ${event.group}, ${left(event)}: ${event.message}`;
    case "handingOver":
      return `draining   ${rangeText(event, kindOf)} for ${event.successorId}, ${left(event)}`;
    case "suspect":
      return `suspect    ${rangeText(event, kindOf)}, ${left(event)}`;
    case "expired":
      return `expired    ${rangeText(event, kindOf)}: no longer served`;
    case "ended":
      return `ended      ${rangeText(event, kindOf)}: ${ENDED_TEXT[event.why]}`;
    case "refused":
      return refusedText(event);
    case "stopped":
      return event.reason === undefined ? "stopped" : `stopped: ${event.reason}: ${event.message}`;
  }
}

/** With the wall time of this machine; the event's own clock means nothing elsewhere. */
export function seatEventJson(event: SeatEvent, at: Date, kindOf: KindOf): JsonValue {
  const { atMs: _atMs, ...rest } = event;
  const fields: Record<string, JsonValue> = { at: at.toISOString() };
  for (const [name, value] of Object.entries(rest)) {
    if (name !== "span") fields[name] = fieldJson(name, value);
  }
  return isRangeEvent(event)
    ? { ...fields, ...spanJson(event.span, kindOf(event.keyspace)) }
    : fields;
}

export function isRangeEvent(event: SeatEvent): event is RangeEvent {
  return "keyspace" in event;
}

const NUMBERS_OF_64_BITS: ReadonlySet<string> = new Set([
  "epoch",
  "incarnation",
  "predecessor",
  "revision",
]);

function fieldJson(name: string, value: unknown): JsonValue {
  if (value === undefined) return null;
  if (typeof value !== "number") return value as JsonValue;
  return NUMBERS_OF_64_BITS.has(name) ? String(value) : Math.round(value);
}

function registeredText(event: Extract<SeatEvent, { kind: "registered" }>): string {
  const { nodeId, incarnation, predecessor, proven } = event;
  const isProven = predecessor !== undefined && proven;
  const proof = isProven ? ` in the place of ${predecessor}, which is dead` : "";
  return `registered as ${nodeId}, incarnation ${incarnation}${proof}`;
}

function refusedText(event: Extract<SeatEvent, { kind: "refused" }>): string {
  if (event.reason === "SESSION_LIVE") {
    return "waiting: leases of an earlier process of this node are still running out";
  }
  const again =
    event.retryAfterMs === undefined
      ? ""
      : `, tried again in ${durationToText(event.retryAfterMs)}`;
  const range = event.rangeId === undefined ? "" : ` of range ${event.rangeId}`;
  return `${event.what}${range} refused: ${event.reason}: ${event.message}${again}`;
}

function rangeText(event: RangeEvent, kindOf: KindOf): string {
  const span = spanText(event.span, kindOf(event.keyspace));
  return `${event.keyspace} ${span} epoch ${event.epoch} (range ${event.rangeId})`;
}

function left({ remainingMs }: { readonly remainingMs: number | undefined }): string {
  if (remainingMs === undefined) return "nothing held";
  return remainingMs <= 0 ? "no time left" : `${durationToText(remainingMs)} left`;
}
