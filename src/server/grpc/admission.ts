/**
 * How many calls a server works on at once. When it is full, new calls are refused at once with
 * OVERLOADED instead of queueing. The last slots are kept for the calls by which owners keep their
 * ranges: a burst of lookups must never cost a lease.
 */

import { assert } from "../../base/assert.ts";
import type { Refusal } from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";

export interface GrpcLimits {
  /** Unary calls that are being worked on, the reserved ones included. */
  readonly inFlightMax: number;
  /** Of these, only for Renew, Accept, Release and OpenSession. */
  readonly inFlightReserved: number;
  readonly watchesMax: number;
}

export const DEFAULT_LIMITS: GrpcLimits = {
  inFlightMax: 4_096,
  inFlightReserved: 1_024,
  watchesMax: 4_096,
};

/** Long enough to drain a full server, short enough not to be felt as an outage. */
const RETRY_AFTER_MS = 200;

export type AdmissionClass = "keepsRanges" | "other" | "watch";

export class Admission {
  readonly #limits: GrpcLimits;
  #calls = 0;
  #watches = 0;

  constructor(limits: GrpcLimits) {
    const { inFlightMax, inFlightReserved } = limits;
    assert(inFlightReserved >= 0 && inFlightReserved < inFlightMax, "others get slots, too");
    this.#limits = limits;
  }

  get calls(): number {
    return this.#calls;
  }

  get watches(): number {
    return this.#watches;
  }

  /** Takes a slot, or says why not. A taken slot is given back with {@link leave}, once. */
  enter(kind: AdmissionClass): Refusal | undefined {
    const { inFlightMax, inFlightReserved, watchesMax } = this.#limits;
    if (kind === "watch") {
      if (this.#watches >= watchesMax) return overloaded("watches", watchesMax);
      this.#watches++;
      return undefined;
    }
    const slots = kind === "keepsRanges" ? inFlightMax : inFlightMax - inFlightReserved;
    if (this.#calls >= slots) return overloaded("calls", slots);
    this.#calls++;
    return undefined;
  }

  leave(kind: AdmissionClass): void {
    if (kind === "watch") this.#watches--;
    else this.#calls--;
    assert(this.#calls >= 0 && this.#watches >= 0, "a slot is given back once");
  }
}

function overloaded(what: string, limit: number): Refusal {
  const text = `this server works on its limit of ${limit} ${what}; back off and try again`;
  return refusal("OVERLOADED", text, {
    retryAfterMs: RETRY_AFTER_MS,
    metadata: { limit: String(limit), what },
  });
}
