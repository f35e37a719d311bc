/** Clients over real gRPC for integration tests. */

import type { MonotonicMs } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import { Client } from "../../../src/client/client.ts";
import { grpcChannel } from "../../../src/client/grpc/grpc-channel.ts";
import type { Clock, Timers } from "../../../src/client/ports.ts";

export const REAL_CLOCK: Clock = { nowMs: () => performance.now() as MonotonicMs };

export const REAL_TIMERS: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  afterReading: (run) => {
    setImmediate(run);
  },
  soon: (run) => {
    queueMicrotask(run);
  },
};

export function realClient(endpoints: readonly string[], clientId: string): Client {
  return new Client({
    endpoints,
    channels: grpcChannel,
    clock: REAL_CLOCK,
    timers: REAL_TIMERS,
    prng: Prng.fromSeed(Math.floor(Math.random() * 2 ** 48)),
    clientId,
  });
}
