/** Clients over real gRPC for integration tests. */

import { Prng } from "../../../src/base/prng.ts";
import { Client } from "../../../src/client/client.ts";
import { grpcChannel } from "../../../src/client/grpc/grpc-channel.ts";
import { systemClock, systemTimers } from "../../../src/server/system.ts";

export function realClient(endpoints: readonly string[], clientId: string): Client {
  return new Client({
    endpoints,
    channels: grpcChannel,
    clock: systemClock,
    timers: systemTimers,
    prng: Prng.fromSeed(Math.floor(Math.random() * 2 ** 48)),
    clientId,
  });
}
