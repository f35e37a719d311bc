/**
 * What a seat tells its process, as data for one readable line each, and the queue that carries it.
 */

import type { Epoch, GroupId, Incarnation, MonotonicMs, Revision } from "../base/brands.ts";
import type { Span } from "../base/span.ts";
import type { CoordinationError } from "../client/errors.ts";
import type { Reason } from "../wire/errors.ts";
import type { EndCause } from "./lease-steps.ts";

/** The range that an event is about. */
export interface EventRange {
  readonly group: GroupId;
  readonly keyspace: string;
  readonly rangeId: string;
  readonly span: Span;
  readonly epoch: Epoch;
}

/** `atMs` is the process's monotonic clock. */
export type SeatEvent = { readonly atMs: MonotonicMs } & (
  | {
      readonly kind: "registered";
      readonly nodeId: string;
      readonly incarnation: Incarnation;
      /** Of the node's process before this one; undefined: there was none. */
      readonly predecessor: Incarnation | undefined;
      /** That process is known to be dead: what it held is granted to this one at once. */
      readonly proven: boolean;
      readonly groups: readonly GroupId[];
    }
  | {
      readonly kind: "sessionOpened";
      readonly group: GroupId;
      readonly revision: Revision;
      readonly alreadyOpen: boolean;
    }
  /** Seen as ours; its epoch is made durable and accepted next. */
  | ({ readonly kind: "granted" } & EventRange)
  /** The directory has recorded that the epoch is durable here. */
  | ({ readonly kind: "accepted" } & EventRange)
  /** Served from now on; `again`: after a lapse or a hand-over that only happened here. */
  | ({ readonly kind: "held"; readonly again: boolean; readonly remainingMs: number } & EventRange)
  | {
      readonly kind: "renewed";
      readonly group: GroupId;
      readonly revision: Revision;
      /** How many ranges were extended. */
      readonly rangeCount: number;
      /** Until the first deadline; undefined: nothing is held. */
      readonly remainingMs: number | undefined;
    }
  | {
      readonly kind: "renewalFailed";
      readonly group: GroupId;
      readonly reason: Reason;
      readonly message: string;
      readonly remainingMs: number | undefined;
    }
  /** Two processes are this incarnation: nothing is renewed any more, and leases run out. */
  | {
      readonly kind: "sessionClosed";
      readonly group: GroupId;
      readonly message: string;
      /** Until the last deadline. */
      readonly remainingMs: number;
    }
  /** A successor was asked for: nothing new is admitted, what was admitted may end (law 12). */
  | ({
      readonly kind: "handingOver";
      readonly successorId: string;
      readonly remainingMs: number;
    } & EventRange)
  /** Still served, but two renewals are overdue. */
  | ({ readonly kind: "suspect"; readonly remainingMs: number } & EventRange)
  /** No longer served: decided here, with no message from anywhere. */
  | ({ readonly kind: "expired" } & EventRange)
  /** Never served again under this epoch. */
  | ({ readonly kind: "ended"; readonly why: EndCause } & EventRange)
  /** Something was refused and is tried again unless "stopped" follows. */
  | {
      readonly kind: "refused";
      readonly what: "openSession" | "watch" | "accept" | "release";
      readonly group: GroupId | undefined;
      readonly rangeId: string | undefined;
      readonly reason: Reason;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    }
  /** The last event. `reason` undefined: the seat was closed by its process. */
  | {
      readonly kind: "stopped";
      readonly reason: Reason | undefined;
      readonly message: string;
    }
);

/** An event without its time, which the seat adds. */
export type TimelessSeatEvent = SeatEvent extends infer Event
  ? Event extends SeatEvent
    ? Omit<Event, "atMs">
    : never
  : never;

/** The event of a call that failed. */
export function refusedEvent(
  what: Extract<SeatEvent, { kind: "refused" }>["what"],
  { message, reason, refusal }: CoordinationError,
  group?: GroupId,
): TimelessSeatEvent {
  const { retryAfterMs } = refusal;
  return { kind: "refused", what, group, rangeId: undefined, reason, message, retryAfterMs };
}

/** Enough for a slow reader; a process that reads no events at all loses the oldest. */
const EVENTS_MAX = 10_000;

/** One writer, one reader. */
export class SeatEventQueue implements AsyncIterable<SeatEvent> {
  readonly #events: SeatEvent[] = [];
  #isEnded = false;
  #rouse: (() => void) | undefined;

  push(event: SeatEvent): void {
    if (this.#isEnded) return;
    if (this.#events.length >= EVENTS_MAX) this.#events.shift();
    this.#events.push(event);
    this.#rouse?.();
  }

  /** Readers get what is left, and then the end. */
  end(): void {
    this.#isEnded = true;
    this.#rouse?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SeatEvent, void> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) {
        yield event;
        continue;
      }
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#rouse = resolve;
      });
    }
  }
}
