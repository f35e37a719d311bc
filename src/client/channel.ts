/**
 * The port through which the client library talks to one server of the directory. The gRPC adapter
 * (client/grpc) implements it, and so do the simulator and the tests' fakes.
 *
 * What an adapter promises:
 * - It makes its connection lazily, and making a channel never fails.
 * - A call that certainly did not leave this process (no connection, no name, closed) is refused
 *   with TRANSIENT; a call without an answer (connection lost, deadline) with UNCERTAIN.
 * - It never retries, and never lets a promise reject for anything that the world can cause.
 */

import type { ApiServices } from "../wire/api-services.ts";

/** One server, by its address. */
export interface ServerChannel {
  /** As it was given to the factory. */
  readonly address: string;
  readonly services: ApiServices;
  /** Ends the calls under way, as if the connection were lost. May be called more than once. */
  close(): void;
}

/** Makes the channel to an address; the client asks once per address and closes what it got. */
export type ChannelFactory = (address: string) => ServerChannel;
