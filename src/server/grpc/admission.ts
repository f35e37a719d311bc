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
  /** Of the health service. Apart from the others, so that probes work on a full server. */
  readonly healthWatchesMax: number;
  /** Streams of server reflection, each with one person or tool behind it. */
  readonly reflectionsMax: number;
}

export const DEFAULT_LIMITS: GrpcLimits = {
  inFlightMax: 4_096,
  inFlightReserved: 1_024,
  watchesMax: 4_096,
  healthWatchesMax: 4_096,
  reflectionsMax: 32,
};

/** Long enough to drain a full server, short enough not to be felt as an outage. */
const RETRY_AFTER_MS = 200;

/** Streams, each kind with a limit of its own, by the word for many of them. */
const STREAM_LIMITS = {
  watch: { what: "watches", limit: "watchesMax" },
  healthWatch: { what: "health watches", limit: "healthWatchesMax" },
  reflection: { what: "reflection streams", limit: "reflectionsMax" },
} as const;

export type StreamClass = keyof typeof STREAM_LIMITS;
/** A probe is answered at once from memory: it takes no slot and is never refused. */
export type AdmissionClass = "keepsRanges" | "other" | "probe" | StreamClass;

export class Admission {
  readonly #limits: GrpcLimits;
  #calls = 0;
  readonly #streams: Record<StreamClass, number> = { watch: 0, healthWatch: 0, reflection: 0 };

  constructor(limits: GrpcLimits) {
    const { inFlightMax, inFlightReserved } = limits;
    assert(inFlightReserved >= 0 && inFlightReserved < inFlightMax, "others get slots, too");
    this.#limits = limits;
  }

  get calls(): number {
    return this.#calls;
  }

  get watches(): number {
    return this.#streams.watch;
  }

  /** Takes a slot, or says why not. A taken slot is given back with {@link leave}, once. */
  enter(kind: AdmissionClass): Refusal | undefined {
    if (kind === "probe") return undefined;
    if (isStream(kind)) {
      const { what, limit } = STREAM_LIMITS[kind];
      if (this.#streams[kind] >= this.#limits[limit]) return overloaded(what, this.#limits[limit]);
      this.#streams[kind]++;
      return undefined;
    }
    const { inFlightMax, inFlightReserved } = this.#limits;
    const slots = kind === "keepsRanges" ? inFlightMax : inFlightMax - inFlightReserved;
    if (this.#calls >= slots) return overloaded("calls", slots);
    this.#calls++;
    return undefined;
  }

  leave(kind: AdmissionClass): void {
    if (kind === "probe") return;
    const left = isStream(kind) ? --this.#streams[kind] : --this.#calls;
    assert(left >= 0, "a slot is given back once");
  }
}

function isStream(kind: AdmissionClass): kind is StreamClass {
  return Object.hasOwn(STREAM_LIMITS, kind);
}

function overloaded(what: string, limit: number): Refusal {
  const text = `this server works on its limit of ${limit} ${what}; back off and try again`;
  return refusal("OVERLOADED", text, {
    retryAfterMs: RETRY_AFTER_MS,
    metadata: { limit: String(limit), what },
  });
}
