/**
 * What goes into a lease keeper and what comes out of it (lease.ts), as data.
 */

import type { MonotonicMs, Revision } from "../base/brands.ts";
import type {
  GrantAnswer,
  LeaseDuration,
  RangeEpoch,
  RenewAnswer,
  WatchFrame,
} from "../wire/api.ts";
import type { AskedRange, Hold } from "./hold.ts";
import type { SentRenewal } from "./renewal.ts";

/** Why a hold ended. */
export type EndCause =
  | ("released" | "expired" | "successor" | "sessionEnded")
  | ("refused" | "handedOver");

/** Everything that changes what is held. Each carries a reading of the process's clock. */
export type LeaseInput = { readonly nowMs: MonotonicMs } & (
  | { readonly kind: "clock" }
  /** A whole frame of the watch by node id, of this group. */
  | { readonly kind: "frame"; readonly frame: WatchFrame }
  | { readonly kind: "sessionOpened"; readonly durations: readonly LeaseDuration[] }
  /** The service says that the session is over: so is every lease under it. */
  | { readonly kind: "sessionEnded" }
  /** Accept of these epochs has committed. */
  | { readonly kind: "accepted"; readonly ranges: readonly RangeEpoch[] }
  /** The group says that it is not ours under this epoch. */
  | { readonly kind: "refused"; readonly range: RangeEpoch; readonly revision: Revision }
  | { readonly kind: "renewed"; readonly sent: SentRenewal; readonly answer: RenewAnswer }
  /** A grant that this incarnation asked for itself; `firstSentMs` as in a renewal. */
  | {
      readonly kind: "grantAnswered";
      readonly firstSentMs: MonotonicMs;
      readonly answer: GrantAnswer;
    }
  /** Given up here, before the directory is told. */
  | { readonly kind: "released"; readonly rangeIds: readonly string[] }
  /** What was admitted has ended, or its time is up: these close for their hand-overs. */
  | { readonly kind: "drained"; readonly ranges: readonly AskedRange[] }
  /** The directory has given them to their successors. */
  | {
      readonly kind: "handedOver";
      readonly ranges: readonly AskedRange[];
      readonly revision: Revision;
    }
  /** The directory has not, and never will for these requests: served again. */
  | { readonly kind: "handOverRefused"; readonly ranges: readonly AskedRange[] }
);

/** An input before its clock reading; of each member, so that the union stays one. */
export type TimelessLeaseInput = WithoutTime<LeaseInput>;
type WithoutTime<Input> = Input extends unknown ? Omit<Input, "nowMs"> : never;

/** What an input has changed. */
export type LeaseEvent =
  | { readonly kind: "granted"; readonly hold: Hold }
  | { readonly kind: "accepted"; readonly hold: Hold }
  /** Served from now on; `again`: after a lapse or a hand-over that only happened here. */
  | { readonly kind: "held"; readonly hold: Hold; readonly again: boolean }
  /** Asked to hand over: there may be nothing to drain, if it is not served. */
  | { readonly kind: "handOverAsked"; readonly hold: Hold }
  | { readonly kind: "draining"; readonly hold: Hold }
  | { readonly kind: "extended"; readonly rangeIds: readonly string[] }
  | { readonly kind: "suspect"; readonly hold: Hold }
  | { readonly kind: "expired"; readonly hold: Hold }
  | { readonly kind: "ended"; readonly hold: Hold; readonly why: EndCause };
