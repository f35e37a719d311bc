/**
 * Ticks for all groups of a server. A tick that comes late counts once, and each runs only after
 * the sockets were read: a stalled loop must not stand for election against a leader whose
 * heartbeats lie unread (research: a due timer can beat a heartbeat already in the socket).
 */

import type { Clock, Timers } from "./ports.ts";

export interface Ticker {
  stop(): void;
}

export function startTicker(options: {
  readonly tickMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly onTick: () => void;
}): Ticker {
  const { tickMs, clock, timers, onTick } = options;
  let isStopped = false;
  let cancel: () => void = () => {};
  let dueMs = clock.nowMs() + tickMs;
  const plan = (): void => {
    cancel = timers.after(Math.max(0, dueMs - clock.nowMs()), () => {
      timers.afterReading(() => {
        if (isStopped) return;
        onTick();
        // Keep the beat when on time; after a stall start anew instead of catching up.
        const nowMs = clock.nowMs();
        dueMs = dueMs + tickMs > nowMs ? dueMs + tickMs : nowMs + tickMs;
        plan();
      });
    });
  };
  plan();
  return {
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}
