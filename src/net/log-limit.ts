/**
 * A logger for what another machine can cause as often as it likes: one line per event and subject
 * in ten seconds, with the number of lines that were left out.
 */

import type { Clock, Logger } from "../replica/ports.ts";

const INTERVAL_MS = 10_000;
/** Subjects can be invented by strangers; beyond this many the oldest is forgotten. */
const SUBJECTS_MAX = 256;

export class LogLimit {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #lines = new Map<string, { loggedAtMs: number; leftOut: number }>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  warn(event: string, subject: string, fields: Readonly<Record<string, unknown>>): void {
    const key = `${event} ${subject}`;
    const nowMs = this.#clock.nowMs();
    const line = this.#lines.get(key);
    if (line !== undefined && nowMs - line.loggedAtMs < INTERVAL_MS) {
      line.leftOut++;
      return;
    }
    this.#logger.warn(event, { ...fields, leftOut: line?.leftOut ?? 0 });
    this.#lines.delete(key);
    this.#lines.set(key, { loggedAtMs: nowMs, leftOut: 0 });
    if (this.#lines.size <= SUBJECTS_MAX) return;
    for (const oldest of this.#lines.keys()) {
      this.#lines.delete(oldest);
      return;
    }
  }
}
