/**
 * The grpc-js client of one address, made when it is first needed. grpc-js has no time limit for a
 * peer that accepts TCP and then says nothing, nor leaves a subchannel that hangs like that; so a
 * channel that calls wait for and that is not ready in time is thrown away and made anew.
 */

import { type ChannelOptions, Client, connectivityState, credentials } from "@grpc/grpc-js";
import { ANSWER_BYTES_MAX } from "../../wire/limits.ts";

const CHANNEL_OPTIONS: ChannelOptions = {
  "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
  "grpc.enable_http_proxy": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.keepalive_permit_without_calls": 1,
  // A connection that hangs is given up with its channel, and is no other channel's either.
  "grpc.use_local_subchannel_pool": 1,
  // Whether a call was sent is known for a first attempt only; retries are the caller's business.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
};

export class Connection {
  readonly #address: string;
  readonly #connectTimeoutMs: number;
  #client: Client | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(address: string, connectTimeoutMs: number) {
    this.#address = address;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** The client to start a call with now; undefined: closed, or not a possible address. */
  client(): Client | undefined {
    if (this.#isClosed) return undefined;
    try {
      this.#client ??= new Client(this.#address, credentials.createInsecure(), CHANNEL_OPTIONS);
    } catch {
      return undefined;
    }
    if (this.#watchdog === undefined && !this.#isReady(this.#client)) this.#watch(this.#client);
    return this.#client;
  }

  close(): void {
    this.#isClosed = true;
    this.#discard();
  }

  #watch(client: Client): void {
    this.#watchdog = setTimeout(() => {
      this.#watchdog = undefined;
      if (this.#client === client && !this.#isReady(client)) this.#discard();
    }, this.#connectTimeoutMs);
    this.#watchdog.unref();
  }

  /** Calls that wait for the connection end as not sent. */
  #discard(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = undefined;
    this.#client?.close();
    this.#client = undefined;
  }

  #isReady(client: Client): boolean {
    return client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }
}
