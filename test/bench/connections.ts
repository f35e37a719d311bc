/** The grpc-js connections of the benchmark's own load generator, the same for both contestants. */

import { type ChannelOptions, Client, credentials } from "@grpc/grpc-js";

const OPTIONS: ChannelOptions = {
  // Otherwise channels to one address share one connection.
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
};

export function connect(address: string): Client {
  return new Client(address, credentials.createInsecure(), OPTIONS);
}

export function connectMany(address: string, count: number): readonly Client[] {
  return Array.from({ length: count }, () => connect(address));
}
