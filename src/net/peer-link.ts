/**
 * The link to one peer: its queue, its present stream, and what the server was told about it. A
 * new stream replaces the old one: the peer says Hello again only when its old one is of no use.
 *
 * States: unknown -> reachable | unreachable; reachable <-> unreachable. The server is told of each
 * change once. While there is no stream, messages are dropped: raft sends newer ones later.
 */

import type { ServerId } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type { Clock, Logger, Timers, TransportEvents } from "../replica/ports.ts";
import { invalidArgumentText } from "../wire/fields.ts";
import type { Hello, SeenAcknowledged } from "../wire/peer-forward.ts";
import type { LogLimit } from "./log-limit.ts";
import { type FrameStream, PeerStream } from "./peer-stream.ts";
import { SendQueue } from "./send-queue.ts";
import { heedRefusal, SeenByGroup, type Standing } from "./standing.ts";
import type { PeerTuning } from "./tuning.ts";

/** What all parts of a server's peer network share. */
export interface NetworkContext {
  readonly self: ServerId;
  readonly clusterId: string;
  readonly bootNonce: string;
  readonly standing: Standing;
  readonly events: TransportEvents;
  readonly logger: Logger;
  readonly logLimit: LogLimit;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly tuning: PeerTuning;
  /** Uniform in [0, 1). */
  readonly randomFraction: () => number;
}

export interface PeerStats {
  readonly peer: ServerId;
  readonly isReachable: boolean;
  readonly streams: number;
  readonly framesSent: number;
  readonly messagesSent: number;
  readonly messagesReceived: number;
  readonly messagesInvalid: number;
  readonly messagesQueued: number;
  readonly bytesQueued: number;
  readonly droppedUnreachable: number;
  readonly droppedUrgent: number;
  readonly droppedBulk: number;
}

export class PeerLink {
  readonly peer: ServerId;
  readonly #context: NetworkContext;
  readonly #queue: SendQueue;
  readonly #seen = new SeenByGroup();
  #stream: PeerStream | undefined;
  #state: "unknown" | "reachable" | "unreachable" = "unknown";
  /** The Hello of the newest stream. */
  #accepted: Hello | undefined;
  #streams = 0;
  #endedFrames = 0;
  #endedMessages = 0;
  #received = 0;
  #invalid = 0;
  #droppedUnreachable = 0;

  constructor(peer: ServerId, context: NetworkContext) {
    this.peer = peer;
    this.#context = context;
    this.#queue = new SendQueue(context.tuning);
  }

  get stats(): PeerStats {
    return {
      peer: this.peer,
      isReachable: this.#state === "reachable",
      streams: this.#streams,
      framesSent: this.#endedFrames + (this.#stream?.framesSent ?? 0),
      messagesSent: this.#endedMessages + (this.#stream?.messagesSent ?? 0),
      messagesReceived: this.#received,
      messagesInvalid: this.#invalid,
      messagesQueued: this.#queue.messages,
      bytesQueued: this.#queue.bytes,
      droppedUnreachable: this.#droppedUnreachable,
      droppedUrgent: this.#queue.droppedUrgent,
      droppedBulk: this.#queue.droppedBulk,
    };
  }

  send(envelope: Envelope): void {
    if (this.#stream === undefined) {
      this.#droppedUnreachable++;
      return;
    }
    this.#queue.push(envelope);
    this.#stream.wake();
  }

  /**
   * Whether this Hello opens an older stream than the present one of the same process: its bytes
   * were held up on the way while the peer gave it up and dialled again.
   */
  isLate(hello: Hello): boolean {
    const accepted = this.#accepted;
    return accepted?.bootNonce === hello.bootNonce && hello.attempt <= accepted.attempt;
  }

  /** What the peer was seen to acknowledge, by whichever of its processes. */
  get acknowledged(): readonly SeenAcknowledged[] {
    return this.#seen.all;
  }

  /** The Hello exchange is complete. `onEnd` is called when it breaks, not when it is replaced. */
  attach(frames: FrameStream, options: AttachOptions): void {
    this.#accepted = options.hello;
    this.#drop("replaced by a new stream");
    this.#streams++;
    this.#state = "reachable";
    const { clock, timers, tuning, events, logger, logLimit, standing } = this.#context;
    if (options.isCalled) standing.onRemembered(this.peer);
    const stream = new PeerStream({
      frames,
      cut: options.cut,
      queue: this.#queue,
      clock,
      timers,
      tuning,
      onFirstBatch: () => {
        if (!options.isCalled) standing.onRemembered(this.peer);
      },
      onRefusal: (refusal) => heedRefusal(this.peer, refusal, standing),
      onEnvelope: (envelope) => {
        this.#received++;
        this.#seen.note(envelope, options.hello.bootNonce);
        events.onEnvelope(this.peer, envelope);
      },
      onInvalid: (error) => {
        this.#invalid++;
        const problem = invalidArgumentText(error);
        logLimit.warn("peerMessageInvalid", String(this.peer), { peer: this.peer, problem });
      },
      onEnd: (reason) => {
        this.#drop(reason);
        options.onEnd();
      },
    });
    this.#stream = stream;
    logger.info("peerReachable", { peer: this.peer });
    events.onPeerReachable(this.peer);
  }

  /** No stream could be made. */
  markUnreachable(reason: string): void {
    if (this.#state === "unreachable") return;
    this.#state = "unreachable";
    this.#context.logger.warn("peerUnreachable", { peer: this.peer, reason });
    this.#context.events.onPeerUnreachable(this.peer);
  }

  /** Ends the stream and tells nobody. */
  close(): void {
    this.#stream?.end();
    this.#forgetStream();
  }

  /** The present stream, if any, is gone: tells the server. */
  #drop(reason: string): void {
    if (this.#stream === undefined) return;
    this.#stream.end();
    this.#forgetStream();
    this.markUnreachable(reason);
  }

  #forgetStream(): void {
    this.#endedFrames += this.#stream?.framesSent ?? 0;
    this.#endedMessages += this.#stream?.messagesSent ?? 0;
    this.#stream = undefined;
    this.#queue.clear();
  }
}

export interface AttachOptions {
  /** The peer's. */
  readonly hello: Hello;
  /** Cuts the connection at once. Called exactly once. */
  readonly cut: () => void;
  /** Whether it is the peer that was called: then its Hello says that it remembers this server. */
  readonly isCalled: boolean;
  readonly onEnd: () => void;
}
