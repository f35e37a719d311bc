/**
 * What a seat gives to each of the three that keep a group for it: the session, the take-over and
 * the hand-overs.
 */

import type { GroupId } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import type { Client } from "../client/client.ts";
import type { Clock, Timers } from "../client/ports.ts";
import type { Owner } from "../wire/api.ts";
import type { Reason } from "../wire/errors.ts";
import type { TimelessSeatEvent } from "./seat-events.ts";

export interface GroupContext {
  readonly client: Client;
  readonly owner: Owner;
  readonly group: GroupId;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly prng: Prng;
  /**
   * Nothing is asked of the directory any more, in no group: the seat stops, or another process is
   * this incarnation and may hold what this one would renew, accept or give up (law 13).
   */
  readonly stopped: AbortSignal;
  readonly emit: (event: TimelessSeatEvent) => void;
  /** The seat can't go on; aborts `stopped`. */
  readonly fail: (reason: Reason, message: string) => void;
}
