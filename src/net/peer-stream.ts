/**
 * One stream to one peer after its Hello exchange: writes frames from the queue, reads batches,
 * says "still here" when idle, and ends itself when the peer falls silent.
 *
 * One frame is on its way at a time: the next is taken when the last has left for the socket. So a
 * peer that does not read stops the writer, not the process's memory, and a heartbeat waits for at
 * most one bulk frame. The write's callback may never come; only the next write waits for it.
 */

import type { ClientDuplexStream, ServerDuplexStream } from "@grpc/grpc-js";
import type { MonotonicMs } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type { Clock, Timers } from "../replica/ports.ts";
import type { InvalidArgument } from "../wire/fields.ts";
import type { PeerFrame, PeerFrame__Output } from "../wire/generated/cadastre/peer/v1/PeerFrame.ts";
import type { Refusal__Output } from "../wire/generated/cadastre/peer/v1/Refusal.ts";
import { envelopeToProto, protoToEnvelope } from "../wire/peer.ts";
import type { SendQueue } from "./send-queue.ts";
import type { PeerTuning } from "./tuning.ts";

/** Either end of Exchange. */
export type FrameStream =
  | ClientDuplexStream<PeerFrame, PeerFrame__Output>
  | ServerDuplexStream<PeerFrame__Output, PeerFrame>;

export interface PeerStreamOptions {
  readonly frames: FrameStream;
  /** Cuts the connection at once. Called exactly once. */
  readonly cut: () => void;
  readonly queue: SendQueue;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly tuning: PeerTuning;
  /** The peer says by its first batch that it has remembered this server. */
  readonly onFirstBatch: () => void;
  /** The peer wants no part of this stream; it ends. */
  readonly onRefusal: (refusal: Refusal__Output) => void;
  readonly onEnvelope: (envelope: Envelope) => void;
  readonly onInvalid: (error: InvalidArgument) => void;
  /** Called exactly once, unless the owner ended it. */
  readonly onEnd: (reason: string) => void;
}

export class PeerStream {
  readonly #options: PeerStreamOptions;
  #isOpen = true;
  #isWriting = false;
  #isFlushDue = false;
  #hasBatch = false;
  #lastReceivedMs: MonotonicMs;
  #lastWrittenMs: MonotonicMs;
  #cancelTimer: () => void = () => {};
  #framesSent = 0;
  #messagesSent = 0;

  constructor(options: PeerStreamOptions) {
    this.#options = options;
    const nowMs = options.clock.nowMs();
    this.#lastReceivedMs = nowMs;
    this.#lastWrittenMs = nowMs;
    this.#listen();
    this.#watch();
    // What is queued follows; the peer waits for a first batch, though it be empty.
    this.#write([]);
  }

  get framesSent(): number {
    return this.#framesSent;
  }

  get messagesSent(): number {
    return this.#messagesSent;
  }

  /** The queue has something: it is written soon, together with what else comes in this turn. */
  wake(): void {
    if (this.#isFlushDue || this.#isWriting) return;
    this.#isFlushDue = true;
    this.#options.timers.soon(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  /** Ends the stream without telling its owner. Nothing is delivered afterwards. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelTimer();
    this.#options.cut();
  }

  #flush(): void {
    if (!this.#isOpen || this.#isWriting) return;
    const envelopes = this.#options.queue.takeFrame();
    if (envelopes.length > 0) this.#write(envelopes);
  }

  #write(envelopes: readonly Envelope[]): void {
    this.#isWriting = true;
    this.#lastWrittenMs = this.#options.clock.nowMs();
    this.#framesSent++;
    this.#messagesSent += envelopes.length;
    const frame: PeerFrame = { batch: { envelopes: envelopes.map(envelopeToProto) } };
    this.#options.frames.write(frame, () => {
      this.#isWriting = false;
      this.#flush();
    });
  }

  #listen(): void {
    const { frames } = this.#options;
    frames.on("data", (frame: PeerFrame__Output) => this.#receive(frame));
    frames.on("error", (error: Error) => this.#fail(error.message));
    frames.on("end", () => this.#fail("ended by the peer"));
    frames.on("close", () => this.#fail("closed"));
    frames.on("cancelled", () => this.#fail("cancelled by the peer"));
  }

  #receive(frame: PeerFrame__Output): void {
    if (!this.#isOpen) return;
    this.#lastReceivedMs = this.#options.clock.nowMs();
    if (frame.refusal) {
      this.#options.onRefusal(frame.refusal);
      this.#fail(`refused by the peer: ${frame.refusal.details}`);
      return;
    }
    if (!frame.batch) {
      this.#fail("a frame that is not a batch");
      return;
    }
    if (!this.#hasBatch) {
      this.#hasBatch = true;
      this.#options.onFirstBatch();
    }
    for (const proto of frame.batch.envelopes) {
      const envelope = protoToEnvelope(proto);
      if (envelope.ok) this.#options.onEnvelope(envelope.value);
      else this.#options.onInvalid(envelope.error);
      if (!this.#isOpen) return;
    }
  }

  /** Looks twice per keep-alive interval, so that neither bound is missed by much. */
  #watch(): void {
    const { clock, timers, tuning } = this.#options;
    this.#cancelTimer = timers.after(tuning.keepAliveMs / 2, () => {
      if (!this.#isOpen) return;
      const idleMs = clock.nowMs() - this.#lastWrittenMs;
      if (!this.#isWriting && idleMs >= tuning.keepAliveMs / 2) this.#write([]);
      // After a stall of this process the silence is ours: the answers lie in the socket, unread.
      if (this.#isSilent()) {
        timers.afterReading(() => {
          if (this.#isOpen && this.#isSilent()) this.#fail("silent");
        });
      }
      this.#watch();
    });
  }

  #isSilent(): boolean {
    const { clock, tuning } = this.#options;
    return clock.nowMs() - this.#lastReceivedMs >= tuning.silenceMsMax;
  }

  #fail(reason: string): void {
    if (!this.#isOpen) return;
    this.end();
    this.#options.onEnd(reason);
  }
}
