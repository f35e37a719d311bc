/**
 * Keeps a stream to one peer with a larger id: dials, exchanges Hellos, hands the stream to the
 * link, and dials again when it breaks.
 *
 * Every attempt has a channel of its own, closed with it. So no attempt inherits a backoff or a
 * connection that hangs: grpc-js waits for ever for a listener that accepts and stays silent
 * (research: grpc-js facts), and this file's timer ends that by cutting the channel.
 */

import type { ServiceError } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import type { PeerFrame__Output } from "../wire/generated/cadastre/peer/v1/PeerFrame.ts";
import { invalidArgumentText } from "../wire/fields.ts";
import { type Hello, helloToProto, protoToHello } from "../wire/peer-forward.ts";
import { readableCause } from "../wire/status-details.ts";
import { localIds, otherStore, refusalOf } from "./handshake.ts";
import type { NetworkContext, PeerLink } from "./peer-link.ts";
import { openPeerChannel } from "./peer-channel.ts";
import { channelOptions } from "./tuning.ts";

export class Dialer {
  readonly #link: PeerLink;
  readonly #context: NetworkContext;
  #address: string;
  #attempts = 0;
  #failuresInRow = 0;
  #isClosed = false;
  /** Ends what is under way: an attempt, or the wait before the next one. */
  #cancel: () => void = () => {};

  constructor(link: PeerLink, address: string, context: NetworkContext) {
    this.#link = link;
    this.#address = address;
    this.#context = context;
    this.#dial();
  }

  /** Dials the new address at once, unless it is the present one. */
  setAddress(address: string): void {
    if (address === this.#address) return;
    this.#address = address;
    this.#cancel();
    this.#link.close();
    this.#link.markUnreachable("its address changed");
    this.#failuresInRow = 0;
    this.#dial();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #dial(): void {
    const { timers, tuning } = this.#context;
    const channel = openPeerChannel(this.#address, channelOptions(tuning));
    const frames = channel.client.exchange();
    const hello = this.#hello();
    let isSettled = false;
    const cut = (): void => {
      frames.cancel();
      channel.cut();
    };
    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      cancelTimer();
      return true;
    };
    const fail = (reason: string): void => {
      if (!settle()) return;
      cut();
      this.#retry(reason);
    };
    const cancelTimer = timers.after(tuning.connectTimeoutMs, () => {
      timers.afterReading(() => fail(`no Hello within ${tuning.connectTimeoutMs} ms`));
    });
    this.#cancel = () => {
      if (settle()) cut();
    };
    // The listeners stay for good: a stream without one for "error" would throw.
    frames.on("error", (error: ServiceError) => {
      if (!isSettled) this.#warnIfRefused(error);
      fail(readableCause(error.details || error.message));
    });
    frames.on("end", () => fail("ended before its Hello"));
    frames.once("data", (frame: PeerFrame__Output) => {
      if (isSettled) return;
      const answer = this.#judgeHello(frame, hello);
      if (typeof answer === "string") {
        this.#warn("helloRefused", answer);
        fail(answer);
        return;
      }
      settle();
      this.#failuresInRow = 0;
      const onEnd = (): void => this.#retry(undefined);
      this.#link.attach(frames, { hello: answer, cut, onEnd });
    });
    frames.write({ hello: helloToProto(hello) });
  }

  #hello(): Hello {
    this.#attempts++;
    const { bootNonce, storeUuid } = this.#context;
    const ids = localIds(this.#context, this.#link.peer);
    return { ...ids, bootNonce, attempt: this.#attempts, storeUuid };
  }

  /** The answer to our Hello, or what is wrong with it. */
  #judgeHello(frame: PeerFrame__Output, sent: Hello): Hello | string {
    if (!frame.hello) return "its first frame is no Hello";
    const answer = protoToHello(frame.hello);
    if (!answer.ok) return `bad Hello: ${invalidArgumentText(answer.error)}`;
    const { peer } = this.#link;
    const refusal = refusalOf(answer.value, this.#context, (server) => server === peer);
    if (refusal !== undefined) return refusal.details;
    if (this.#link.isOtherStore(answer.value)) return otherStore(peer).details;
    return answer.value.attempt === sent.attempt ? answer.value : "its Hello answers another one";
  }

  /** One line says what the peer holds against us: retrying will not cure it. */
  #warnIfRefused(error: ServiceError): void {
    const { FAILED_PRECONDITION, PERMISSION_DENIED, UNIMPLEMENTED } = status;
    if (![FAILED_PRECONDITION, PERMISSION_DENIED, UNIMPLEMENTED].includes(error.code)) return;
    this.#warn("refusedByPeer", error.details);
  }

  #warn(event: string, details: string): void {
    const { peer } = this.#link;
    this.#context.logLimit.warn(event, String(peer), { peer, address: this.#address, details });
  }

  /** reason: why no stream was made; undefined: one broke, and the link has said so. */
  #retry(reason: string | undefined): void {
    if (this.#isClosed) return;
    if (reason !== undefined) this.#link.markUnreachable(reason);
    const { timers, tuning, randomFraction } = this.#context;
    const ceilingMs = Math.min(
      tuning.backoffMsMax,
      tuning.backoffMsMin * 2 ** Math.min(this.#failuresInRow, 10),
    );
    this.#failuresInRow++;
    const delayMs = ceilingMs * (0.5 + randomFraction() / 2);
    this.#cancel = timers.after(delayMs, () => {
      if (!this.#isClosed) this.#dial();
    });
  }
}
