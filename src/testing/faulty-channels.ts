/**
 * Between clients and servers in one process: channels (client/channel.ts) onto the services of
 * servers, over links of their own. A call is late, or lost before or after it took effect, or
 * carried out twice; a link refuses or swallows everything while it is cut, and a stream that it
 * swallowed from never comes back.
 *
 * All chance comes from the generator that they are made with.
 */

import type { Prng } from "../base/prng.ts";
import { failed, type Result } from "../base/result.ts";
import type { ChannelFactory, ServerChannel } from "../client/channel.ts";
import { localRefusal } from "../client/errors.ts";
import type { Header, Refusal, WatchFrame, WatchRequest } from "../wire/api.ts";
import type { ApiServices, CallContext } from "../wire/api-services.ts";
import { calledServices } from "./called-services.ts";
import type { CutKind } from "./faulty-network.ts";
import { FrameInbox } from "./frame-inbox.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What happens to each call and answer; chances are fractions of 1. */
export interface ChannelQuality {
  readonly delayMsMax: number;
  readonly loss: number;
  readonly answerLoss: number;
  readonly duplication: number;
}

export const PERFECT_CHANNELS: ChannelQuality = {
  delayMsMax: 1,
  loss: 0,
  answerLoss: 0,
  duplication: 0,
};

/** One process at the client's end. Its name is its own. */
export interface ChannelParty {
  readonly name: string;
  readonly clock: ProcessClock;
}

/** One process of a server, as long as it lives. */
export interface ServingProcess {
  readonly clock: ProcessClock;
  readonly services: ApiServices;
}

/** What channels tell of the harm that they have done, by name. */
export type ChannelHarm = "callsLost" | "answersLost" | "callsRepeated" | "watchesBroken";

export type ServedAnswer = Result<{ readonly header: Header }, Refusal>;
type Frame = Result<WatchFrame, Refusal>;
type Method = (request: unknown, context: CallContext) => Promise<ServedAnswer>;

export interface ServedCall {
  readonly service: keyof ApiServices;
  readonly method: string;
  readonly request: unknown;
  readonly context: CallContext;
}

/** One call and the copies of it, which whoever repeats it gives up when it was refused. */
interface SentCall extends ServedCall {
  readonly sentMs: number;
  readonly end: (answer: ServedAnswer) => void;
  /** Copies that a service has begun and whose answer has not arrived. */
  open: number;
  isRefused: boolean;
}

interface OpenStream {
  readonly party: ChannelParty;
  readonly address: string;
  /** Ends it with a refusal, or (undefined) leaves its reader in silence. */
  readonly breakOff: (refusal: Refusal | undefined) => void;
}

export interface FaultyChannelsOptions {
  readonly world: VirtualClock;
  readonly prng: Prng;
  readonly quality: ChannelQuality;
  /** The process that listens at an address now. */
  readonly serverAt: (address: string) => ServingProcess | undefined;
  readonly onHarm?: (harm: ChannelHarm) => void;
  /** Told when a service begins a call; what it gives is told of the answer, delivered or not. */
  readonly onServe?: (
    party: ChannelParty,
    address: string,
    call: ServedCall,
  ) => (answer: ServedAnswer) => void;
  /** Told of every frame that a service gives. */
  readonly onFrame?: (frame: WatchFrame) => void;
  /** A service has thrown: a bug. */
  readonly onBug: (error: unknown) => void;
}

export class FaultyChannels {
  readonly #options: FaultyChannelsOptions;
  #quality: ChannelQuality;
  readonly #cuts = new Map<string, CutKind>();
  readonly #streams = new Set<OpenStream>();

  constructor(options: FaultyChannelsOptions) {
    this.#options = options;
    this.#quality = options.quality;
  }

  setQuality(quality: ChannelQuality): void {
    this.#quality = quality;
  }

  /** The channels of one process. */
  factory(party: ChannelParty): ChannelFactory {
    return (address) => this.#channel(party, address);
  }

  cut(party: ChannelParty, address: string, kind: CutKind): void {
    this.#cuts.set(linkOf(party, address), kind);
    for (const stream of this.#streams) {
      if (stream.party !== party || stream.address !== address) continue;
      stream.breakOff(kind === "silent" ? undefined : unreachable());
    }
  }

  heal(party: ChannelParty, address: string): void {
    this.#cuts.delete(linkOf(party, address));
  }

  healAll(): void {
    this.#cuts.clear();
  }

  /** The server's process has ended: so have its connections. */
  serverGone(address: string): void {
    for (const stream of this.#streams) {
      if (stream.address === address) stream.breakOff(unreachable());
    }
  }

  partyGone(party: ChannelParty): void {
    for (const stream of this.#streams) if (stream.party === party) stream.breakOff(undefined);
  }

  #delayMs(): number {
    return 0.1 + this.#options.prng.nextFraction() ** 3 * this.#quality.delayMsMax;
  }

  #isUp(party: ChannelParty, address: string, process: ServingProcess): boolean {
    const isThere = this.#options.serverAt(address) === process && !process.clock.isKilled;
    return isThere && !this.#cuts.has(linkOf(party, address));
  }

  #channel(party: ChannelParty, address: string): ServerChannel {
    const services = calledServices((service, method) =>
      method === "watch"
        ? (request: WatchRequest, options: { signal?: AbortSignal }) =>
            this.#watch(party, address, request, options.signal)
        : (request: unknown, context: CallContext) =>
            this.#call(party, address, { service, method, request, context }),
    );
    return { address, services, close: () => {} };
  }

  /** As the port promises: TRANSIENT if nothing was sent, UNCERTAIN if no answer came. */
  #call(party: ChannelParty, address: string, call: ServedCall): Promise<ServedAnswer> {
    const { world, prng, serverAt, onHarm } = this.#options;
    const { timeoutMs, signal } = call.context;
    const sentMs = world.nowMs();
    return new Promise((resolve) => {
      const end = (answer: ServedAnswer): void => {
        cancel();
        signal?.removeEventListener("abort", giveUp);
        resolve(answer);
      };
      const giveUp = (): void => end(failed(localRefusal("UNCERTAIN", `no answer: ${address}`)));
      const cancel = party.clock.after(timeoutMs, giveUp);
      signal?.addEventListener("abort", giveUp);
      const cut = this.#cuts.get(linkOf(party, address));
      const process = serverAt(address);
      if (cut === "refused" || process === undefined) {
        party.clock.after(0.5, () => end(failed(unreachable())));
        return;
      }
      const sent = { ...call, sentMs, end, open: 0, isRefused: false };
      const deliver = (): void => {
        if (!this.#isUp(party, address, process)) return;
        process.clock.enter(() => this.#serve(party, address, process, sent));
      };
      if (cut === "silent") return;
      if (prng.chance(this.#quality.loss)) return onHarm?.("callsLost");
      world.after(this.#delayMs(), deliver);
      if (!prng.chance(this.#quality.duplication)) return;
      onHarm?.("callsRepeated");
      world.after(10 * this.#delayMs(), deliver);
    });
  }

  /**
   * Runs in the server's process. A refusal tells of one copy only: while another is under way it
   * is no answer to the call.
   */
  #serve(party: ChannelParty, address: string, process: ServingProcess, call: SentCall): void {
    const { world, prng, onHarm, onServe, onBug } = this.#options;
    const timeoutMs = call.context.timeoutMs - (world.nowMs() - call.sentMs);
    if (timeoutMs <= 0 || call.isRefused) return;
    call.open++;
    const onAnswer = onServe?.(party, address, call);
    const methods = process.services[call.service] as unknown as Record<string, Method>;
    const answering = methods[call.method]?.(call.request, { timeoutMs });
    const answered = (answer: ServedAnswer): void => {
      if (process.clock.isKilled) return;
      onAnswer?.(answer);
      if (prng.chance(this.#quality.answerLoss)) return onHarm?.("answersLost");
      world.after(this.#delayMs(), () => {
        if (!this.#isUp(party, address, process)) return;
        call.open--;
        if (!answer.ok && call.open > 0) return;
        call.isRefused = !answer.ok;
        party.clock.enter(() => call.end(answer));
      });
    };
    void answering?.then(answered, onBug);
  }

  #watch(
    party: ChannelParty,
    address: string,
    request: WatchRequest,
    signal: AbortSignal | undefined,
  ): AsyncIterable<Frame> {
    const { world, serverAt, onHarm, onBug } = this.#options;
    const inbox = new FrameInbox<Frame>();
    const closing = new AbortController();
    const stream: OpenStream = {
      party,
      address,
      breakOff: (refusal) => {
        if (!this.#streams.delete(stream)) return;
        onHarm?.("watchesBroken");
        closing.abort();
        if (refusal !== undefined) party.clock.enter(() => inbox.push(failed(refusal), true));
      },
    };
    const close = (): void => {
      this.#streams.delete(stream);
      closing.abort();
      inbox.end();
    };
    signal?.addEventListener("abort", close);
    this.#streams.add(stream);
    const cut = this.#cuts.get(linkOf(party, address));
    const process = serverAt(address);
    if (process === undefined || cut === "refused") {
      party.clock.after(0.5, () => stream.breakOff(unreachable()));
    } else if (cut === undefined) {
      world.after(this.#delayMs(), () => {
        if (!this.#isUp(party, address, process)) return stream.breakOff(unreachable());
        process.clock.enter(() => {
          this.#pump(stream, process, { request, inbox, closing }).catch(onBug);
        });
      });
    }
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => inbox.next(),
        return: () => {
          close();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  }

  /** Frames keep their order; what is under way when the stream breaks is lost. */
  async #pump(
    stream: OpenStream,
    process: ServingProcess,
    at: { request: WatchRequest; inbox: FrameInbox<Frame>; closing: AbortController },
  ): Promise<void> {
    const { world } = this.#options;
    const { signal } = at.closing;
    let lastMs = 0;
    for await (const frame of process.services.directory.watch(at.request, { signal })) {
      if (process.clock.isKilled) return;
      if (frame.ok) this.#options.onFrame?.(frame.value);
      await at.inbox.room();
      lastMs = Math.max(lastMs, world.nowMs() + this.#delayMs());
      world.after(lastMs - world.nowMs(), () => {
        if (!this.#streams.has(stream)) return;
        stream.party.clock.enter(() => at.inbox.push(frame, false));
      });
    }
    world.after(Math.max(0, lastMs - world.nowMs()), () => stream.breakOff(unreachable()));
  }
}

function linkOf(party: ChannelParty, address: string): string {
  return `${party.name}-${address}`;
}

function unreachable(): Refusal {
  return localRefusal("TRANSIENT", "nothing was sent");
}
