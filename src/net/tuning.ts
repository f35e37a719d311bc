/**
 * Every number of the peer transport, with its reason, and the options that all its channels and
 * its server share. Tests shorten the times; nothing else changes them.
 */

import type { ChannelOptions } from "@grpc/grpc-js";
import { assert } from "../base/assert.ts";

export interface PeerTuning {
  /** From the start of a dial to the peer's Hello. grpc-js itself waits for ever. */
  readonly connectTimeoutMs: number;
  /**
   * A stream on which no whole frame arrived for this long is torn down. So a link must carry the
   * largest frame in that time: 640 KiB in 2 s.
   */
  readonly silenceMsMax: number;
  /** An empty batch is sent when nothing else was for this long. */
  readonly keepAliveMs: number;
  /** Wait between dials: doubles from min to max, each drawn from its upper half. */
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
  /** A frame is closed when it reaches this; one larger message travels alone. */
  readonly frameBytesMax: number;
  /** Bulk up to this much may share a frame with urgent messages: it does not delay them. */
  readonly mixedBulkBytesMax: number;
  readonly urgentMessagesMax: number;
  readonly bulkMessagesMax: number;
  readonly bulkBytesMax: number;
  /** A snapshot's sender or receiver that does nothing for so long is given up by the other. */
  readonly snapshotIdleMs: number;
  /** How long close() lets forwarded calls be answered. */
  readonly drainMs: number;
}

export const DEFAULT_TUNING: PeerTuning = {
  connectTimeoutMs: 2_000,
  silenceMsMax: 2_000,
  keepAliveMs: 500,
  backoffMsMin: 100,
  backoffMsMax: 1_000,
  frameBytesMax: 256 * 1024,
  mixedBulkBytesMax: 16 * 1024,
  urgentMessagesMax: 8_192,
  bulkMessagesMax: 4_096,
  bulkBytesMax: 16 * 1024 * 1024,
  snapshotIdleMs: 8_000,
  drainMs: 300,
};

assert(
  DEFAULT_TUNING.silenceMsMax >= 3 * DEFAULT_TUNING.keepAliveMs,
  "a live peer says something several times before it is taken for silent",
);

/** One frame: the largest message, or several up to frameBytesMax, and room for the wrapping. */
const GRPC_MESSAGE_BYTES_MAX: number = 4 * 1024 * 1024;

const MESSAGE_LIMITS = {
  "grpc.max_send_message_length": GRPC_MESSAGE_BYTES_MAX,
  "grpc.max_receive_message_length": GRPC_MESSAGE_BYTES_MAX,
  "grpc.enable_channelz": 0,
} as const;

export const SERVER_OPTIONS: ChannelOptions = MESSAGE_LIMITS;

/**
 * Every channel has a connection of its own (local subchannel pool), never goes through a proxy
 * from the environment, and never retries. With a retry buffer grpc-js confirms a write at once
 * instead of when it has left, and the one-frame-at-a-time rule of the streams would be void.
 */
export function channelOptions(tuning: PeerTuning): ChannelOptions {
  return {
    ...MESSAGE_LIMITS,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.enable_retries": 0,
    "grpc.retry_buffer_size": 0,
    "grpc.per_rpc_retry_buffer_size": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.initial_reconnect_backoff_ms": tuning.backoffMsMin,
    "grpc.max_reconnect_backoff_ms": tuning.backoffMsMax,
    "grpc.keepalive_time_ms": tuning.silenceMsMax,
    "grpc.keepalive_timeout_ms": tuning.silenceMsMax,
  };
}

/** Of one connection that carries one snapshot: a window of several chunks fills a fast link. */
const SNAPSHOT_WINDOW_BYTES: number = 1024 * 1024;

export function snapshotChannelOptions(tuning: PeerTuning): ChannelOptions {
  return { ...channelOptions(tuning), "grpc-node.flow_control_window": SNAPSHOT_WINDOW_BYTES };
}
