/**
 * The calling side of forwarded commands. Each peer has a channel for them beside its stream, so
 * that a large command never stands before a heartbeat; it is opened by the first call.
 *
 * What matters is when a command may have had an effect. A call is made only on a channel that is
 * ready: until then the outcome is `notApplied` for certain. From then on every failure is
 * `unknown`, except a refusal that the peer makes before it looks at the command.
 */

import type { ServiceError } from "@grpc/grpc-js";
import { connectivityState, status } from "@grpc/grpc-js";
import { assert } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import type { ForwardAnswer, ForwardCall, Forwarder, ForwardFailure } from "../replica/ports.ts";
import { invalidArgumentText } from "../wire/fields.ts";
import type { PeerClient } from "../wire/generated/cadastre/peer/v1/Peer.ts";
import { ENTRY_PAYLOAD_BYTES_MAX } from "../wire/packed-entries.ts";
import { forwardToProto, protoToForwardAnswer } from "../wire/peer-forward.ts";
import { localIds } from "./handshake.ts";
import type { NetworkContext } from "./peer-link.ts";
import { openPeerChannel, type PeerChannel } from "./peer-channel.ts";
import { channelOptions } from "./tuning.ts";

interface ForwardChannel extends PeerChannel {
  readonly address: string;
  /** Since when it has been connecting; undefined while it is ready. */
  connectingSinceMs: number | undefined;
}

export class GrpcForwarder implements Forwarder {
  readonly #context: NetworkContext;
  readonly #addressOf: (peer: ServerId) => string | undefined;
  readonly #channels = new Map<ServerId, ForwardChannel>();
  /** A peer that just refused a connection is not tried again before this. */
  readonly #retryAtMs = new Map<ServerId, number>();
  #isClosed = false;

  constructor(context: NetworkContext, addressOf: (peer: ServerId) => string | undefined) {
    this.#context = context;
    this.#addressOf = addressOf;
  }

  async forward(to: ServerId, call: ForwardCall): Promise<ForwardAnswer> {
    assert(
      call.command.length <= ENTRY_PAYLOAD_BYTES_MAX,
      "a forwarded command is within its bound",
    );
    if (this.#isClosed) return notApplied("shuttingDown");
    if (!(call.timeoutMs > 0)) return notApplied("deadlineExceeded");
    const startMs = this.#context.clock.nowMs();
    if (startMs < (this.#retryAtMs.get(to) ?? 0)) return notApplied("unreachable");
    const channel = this.#channelTo(to);
    if (channel === undefined) return notApplied("unreachable");
    if (!isReady(channel)) {
      const failure = await this.#connect(to, channel, call.timeoutMs);
      if (failure !== undefined) return notApplied(failure);
    }
    const leftMs = call.timeoutMs - (this.#context.clock.nowMs() - startMs);
    if (leftMs <= 0) return notApplied("deadlineExceeded");
    return this.#call(to, channel.client, { ...call, timeoutMs: leftMs });
  }

  /** Forgets channels to peers that are gone or have moved. */
  dropStaleChannels(): void {
    for (const [peer, channel] of this.#channels) {
      if (this.#addressOf(peer) !== channel.address) this.#discard(peer, channel);
    }
  }

  /** Calls that are under way resolve as unknown. */
  close(): void {
    this.#isClosed = true;
    for (const [peer, channel] of this.#channels) this.#discard(peer, channel);
  }

  #channelTo(peer: ServerId): ForwardChannel | undefined {
    const existing = this.#channels.get(peer);
    if (existing !== undefined) return existing;
    const address = this.#addressOf(peer);
    if (address === undefined) return undefined;
    const opened = openPeerChannel(address, channelOptions(this.#context.tuning));
    const channel: ForwardChannel = { ...opened, address, connectingSinceMs: undefined };
    this.#channels.set(peer, channel);
    return channel;
  }

  /** undefined when the channel is ready. A channel that failed to connect is thrown away. */
  async #connect(
    peer: ServerId,
    channel: ForwardChannel,
    timeoutMs: number,
  ): Promise<ForwardFailure | undefined> {
    const { clock, tuning } = this.#context;
    channel.connectingSinceMs ??= clock.nowMs();
    const limitMs = tuning.connectTimeoutMs;
    const outcome = await connected(channel.client, Math.min(timeoutMs, limitMs));
    if (outcome === "ready") {
      channel.connectingSinceMs = undefined;
      return undefined;
    }
    const waitedMs = clock.nowMs() - (channel.connectingSinceMs ?? clock.nowMs());
    if (outcome === "refused" && this.#channels.get(peer) === channel) {
      this.#retryAtMs.set(peer, clock.nowMs() + tuning.backoffMsMin);
      this.#discard(peer, channel);
    } else if (timeoutMs >= limitMs || waitedMs >= limitMs) {
      // A listener that accepts and stays silent would hold this channel for ever.
      this.#discard(peer, channel);
    }
    return this.#isClosed ? "shuttingDown" : "unreachable";
  }

  #call(to: ServerId, client: PeerClient, call: ForwardCall): Promise<ForwardAnswer> {
    const ids = localIds(this.#context, to);
    const deadline = Date.now() + call.timeoutMs;
    return new Promise((resolve) => {
      client.forward(forwardToProto({ ids, call }), { deadline }, (error, reply) => {
        if (error !== null) {
          resolve(this.#toFailure(to, error));
          return;
        }
        const answer = reply === undefined ? undefined : protoToForwardAnswer(reply);
        if (answer?.ok === true) resolve(answer.value);
        else {
          const problem = answer === undefined ? "no reply" : invalidArgumentText(answer.error);
          this.#context.logLimit.warn("forwardReplyInvalid", String(to), { peer: to, problem });
          resolve(unknown("unreachable"));
        }
      });
    });
  }

  /**
   * The peer answers with these codes only before it hands the command on. grpc-js makes none of
   * them of a call that failed on the way; UNIMPLEMENTED it makes of an answer that got lost.
   */
  #toFailure(to: ServerId, error: ServiceError): ForwardAnswer {
    const { FAILED_PRECONDITION, PERMISSION_DENIED, INVALID_ARGUMENT } = status;
    const refusals = [FAILED_PRECONDITION, PERMISSION_DENIED, INVALID_ARGUMENT];
    if (refusals.includes(error.code)) {
      const fields = { peer: to, details: error.details };
      this.#context.logLimit.warn("forwardRefusedByPeer", String(to), fields);
      return notApplied("unreachable");
    }
    if (error.code === status.DEADLINE_EXCEEDED) return unknown("deadlineExceeded");
    return unknown(this.#isClosed ? "shuttingDown" : "unreachable");
  }

  #discard(peer: ServerId, channel: ForwardChannel): void {
    if (this.#channels.get(peer) === channel) this.#channels.delete(peer);
    channel.cut();
  }
}

function isReady(channel: ForwardChannel): boolean {
  return channel.client.getChannel().getConnectivityState(true) === connectivityState.READY;
}

type Connected = "ready" | "refused" | "timedOut";

function connected(client: PeerClient, timeoutMs: number): Promise<Connected> {
  const channel = client.getChannel();
  const deadline = Date.now() + timeoutMs;
  return new Promise((resolve) => {
    const look = (): void => {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) resolve("ready");
      else if (state === connectivityState.TRANSIENT_FAILURE) resolve("refused");
      else if (state === connectivityState.SHUTDOWN) resolve("refused");
      else {
        channel.watchConnectivityState(state, deadline, (error) => {
          if (error) resolve("timedOut");
          else look();
        });
      }
    };
    look();
  });
}

function notApplied(reason: ForwardFailure): ForwardAnswer {
  return { kind: "failed", outcome: "notApplied", reason };
}

function unknown(reason: ForwardFailure): ForwardAnswer {
  return { kind: "failed", outcome: "unknown", reason };
}
