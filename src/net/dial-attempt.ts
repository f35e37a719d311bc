/**
 * One attempt to make a stream to a peer: a channel of its own, a Hello each way, the peer's store
 * remembered for good, and then the stream is the link's. It ends once: accepted, failed, declined
 * (the peer is told why first) or cancelled.
 */

import { type ServiceError, status } from "@grpc/grpc-js";
import type { PeerFrame__Output } from "../wire/generated/cadastre/peer/v1/PeerFrame.ts";
import { invalidArgumentText } from "../wire/fields.ts";
import { type Hello, helloToProto, protoToHello } from "../wire/peer-forward.ts";
import { readableCause } from "../wire/status-details.ts";
import { type Refusal, refusalOf } from "./handshake.ts";
import { openPeerChannel, type PeerChannel } from "./peer-channel.ts";
import type { NetworkContext, PeerLink } from "./peer-link.ts";
import type { FrameStream } from "./peer-stream.ts";
import { heedRefusal, refusalByStores } from "./standing.ts";
import { channelOptions } from "./tuning.ts";

export interface DialAttemptOptions {
  readonly link: PeerLink;
  readonly address: string;
  readonly hello: Hello;
  readonly context: NetworkContext;
  readonly onAccepted: () => void;
  /** Why no stream was made. */
  readonly onFailed: (reason: string) => void;
  /** The stream that was made has ended. */
  readonly onBroken: () => void;
}

export class DialAttempt {
  readonly #options: DialAttemptOptions;
  readonly #channel: PeerChannel;
  readonly #frames: FrameStream & { cancel(): void };
  readonly #cancelTimer: () => void;
  #isSettled = false;

  constructor(options: DialAttemptOptions) {
    this.#options = options;
    const { timers, tuning } = options.context;
    this.#channel = openPeerChannel(options.address, channelOptions(tuning));
    const frames = this.#channel.client.exchange();
    this.#frames = frames;
    this.#cancelTimer = timers.after(tuning.connectTimeoutMs, () => {
      timers.afterReading(() => this.#fail(`no Hello within ${tuning.connectTimeoutMs} ms`));
    });
    // The listeners stay for good: a stream without one for "error" would throw.
    frames.on("error", (error: ServiceError) => {
      if (!this.#isSettled) this.#warnIfRefused(error);
      this.#fail(readableCause(error.details || error.message));
    });
    frames.on("end", () => this.#fail("ended before its Hello"));
    frames.once("data", (frame: PeerFrame__Output) => this.#onFirstFrame(frame));
    frames.write({ hello: helloToProto(options.hello) });
  }

  cancel(): void {
    if (this.#settle()) this.#cut();
  }

  #onFirstFrame(frame: PeerFrame__Output): void {
    if (this.#isSettled) return;
    const answer = this.#readHello(frame);
    if (typeof answer === "string") {
      this.#warn(frame.refusal ? "refusedByPeer" : "helloRefused", answer);
      this.#fail(answer);
      return;
    }
    const { link, context } = this.#options;
    if (context.standing.isRemembered(link.peer)) {
      this.#accept(answer);
      return;
    }
    // Nothing that the peer says is read before its store is remembered for good.
    this.#frames.pause();
    void context.standing.remember(link.peer, answer.storeUuid).then(() => this.#accept(answer));
  }

  /** The answer to our Hello from the peer that was meant, or what it is instead. */
  #readHello(frame: PeerFrame__Output): Hello | string {
    const { link, context, hello } = this.#options;
    const { peer } = link;
    if (frame.refusal) {
      heedRefusal(peer, frame.refusal, context.standing);
      return frame.refusal.details;
    }
    if (!frame.hello) return "its first frame is no Hello";
    const answer = protoToHello(frame.hello);
    if (!answer.ok) return `bad Hello: ${invalidArgumentText(answer.error)}`;
    const refusal = refusalOf(answer.value, context, (server) => server === peer);
    if (refusal !== undefined) return refusal.details;
    return answer.value.attempt === hello.attempt ? answer.value : "its Hello answers another one";
  }

  #accept(answer: Hello): void {
    if (this.#isSettled) return;
    const refusal = refusalByStores(answer, this.#options.context);
    if (refusal !== undefined) {
      this.#decline(refusal);
      return;
    }
    this.#settle();
    const { link, onAccepted, onBroken } = this.#options;
    onAccepted();
    const cut = (): void => this.#cut();
    link.attach(this.#frames, { hello: answer, cut, isCalled: true, onEnd: onBroken });
    this.#frames.resume();
  }

  #decline({ reason, details }: Refusal): void {
    if (!this.#settle()) return;
    const { context, onFailed } = this.#options;
    this.#warn("helloRefused", details);
    this.#frames.write({ refusal: { reason, details } });
    this.#frames.end();
    // The peer ends the call when it has read that; if it does not, nothing is kept of it.
    context.timers.after(context.tuning.drainMs, () => this.#cut());
    onFailed(details);
  }

  #fail(reason: string): void {
    if (!this.#settle()) return;
    this.#cut();
    this.#options.onFailed(reason);
  }

  /** Answers whether this call is the first. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#cancelTimer();
    return true;
  }

  #cut(): void {
    this.#frames.cancel();
    this.#channel.cut();
  }

  /** One line says what the peer holds against us: retrying will not cure it. */
  #warnIfRefused(error: ServiceError): void {
    const { FAILED_PRECONDITION, PERMISSION_DENIED, UNIMPLEMENTED } = status;
    if (![FAILED_PRECONDITION, PERMISSION_DENIED, UNIMPLEMENTED].includes(error.code)) return;
    this.#warn("refusedByPeer", error.details);
  }

  #warn(event: string, details: string): void {
    const { link, address, context } = this.#options;
    const { peer } = link;
    context.logLimit.warn(event, String(peer), { peer, address, details });
  }
}
