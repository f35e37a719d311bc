/**
 * The public entry point `cadastre/client`: look up, watch and change the directory from any
 * process, over channels that the caller brings.
 */

export { CoordinationError, type Attempt } from "./errors.ts";
export { Client, type ClientOptions } from "./client.ts";
export type { CallOptions } from "./call.ts";
export type { ChannelFactory, ServerChannel } from "./channel.ts";
export type { Clock, Timers } from "./ports.ts";
export { RangeTable } from "./range-table.ts";
export type {
  ClientCluster,
  ClientDirectory,
  ClientKeyspaces,
  ClientOwnership,
  ListRangesInput,
  WatchInput,
} from "./requests.ts";
export type { WatchOptions } from "./watch.ts";
