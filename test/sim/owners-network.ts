// Between clients and servers: channels onto the services of whole servers, over links of their
// own. A call is late, or lost before or after it took effect, or carried out twice; a link refuses
// or swallows everything while it is cut, and a stream that it swallowed from never comes back.
import type { ServerId } from "../../src/base/brands.ts";
import type { Prng } from "../../src/base/prng.ts";
import { failed, type Result } from "../../src/base/result.ts";
import type { ChannelFactory, ServerChannel } from "../../src/client/channel.ts";
import { localRefusal } from "../../src/client/errors.ts";
import type { ServerCore } from "../../src/server/server-core.ts";
import type { Header, Refusal, WatchFrame, WatchRequest } from "../../src/wire/api.ts";
import type { ApiServices, CallContext } from "../../src/wire/api-services.ts";
import type { ProcessClock } from "./owners-clock.ts";
import type { OwnersTrace } from "./owners-trace.ts";
import type { VirtualCluster } from "./virtual-cluster.ts";

export interface LinkMix {
  readonly delayMsMax: number;
  readonly loss: number;
  readonly answerLoss: number;
  readonly repeat: number;
}

/** One process at the client's end. */
export interface Party {
  readonly name: string;
  readonly clock: ProcessClock;
}

type Cut = "refused" | "silent";
type Answer = Result<{ readonly header: Header }, Refusal>;
type Frame = Result<WatchFrame, Refusal>;
type Method = (request: unknown, context: CallContext) => Promise<Answer>;

interface OpenStream {
  readonly party: Party;
  readonly server: ServerId;
  /** Ends it with a refusal, or (undefined) leaves its reader in silence. */
  readonly breakOff: (refusal: Refusal | undefined) => void;
}

export class OwnersNetwork {
  readonly #cluster: VirtualCluster;
  readonly #prng: Prng;
  readonly #trace: OwnersTrace;
  readonly #onAnswer: (header: Header) => void;
  readonly #onBug: (error: unknown) => void;
  #mix: LinkMix;
  readonly #cuts = new Map<string, Cut>();
  readonly #streams = new Set<OpenStream>();

  constructor(options: {
    readonly cluster: VirtualCluster;
    readonly prng: Prng;
    readonly trace: OwnersTrace;
    readonly mix: LinkMix;
    /** Told of every answer that a service gives. */
    readonly onAnswer: (header: Header) => void;
    readonly onBug: (error: unknown) => void;
  }) {
    this.#cluster = options.cluster;
    this.#prng = options.prng;
    this.#trace = options.trace;
    this.#mix = options.mix;
    this.#onAnswer = options.onAnswer;
    this.#onBug = options.onBug;
  }

  get endpoints(): readonly string[] {
    return this.#cluster.ids.map((id) => `server-${id}:1`);
  }

  channels(party: Party): ChannelFactory {
    return (address) => this.#channel(party, address);
  }

  cut(party: Party, server: ServerId, how: Cut): void {
    this.#cuts.set(linkOf(party, server), how);
    for (const stream of this.#streamsOf(party, server)) {
      stream.breakOff(how === "silent" ? undefined : unreachable());
    }
  }

  heal(party: Party, server: ServerId): void {
    this.#cuts.delete(linkOf(party, server));
  }

  /** Every link is whole, and from now on as good as a network can be. */
  healAll(): void {
    this.#cuts.clear();
    this.#mix = { delayMsMax: 2, loss: 0, answerLoss: 0, repeat: 0 };
  }

  isWhole(party: Party): boolean {
    return this.#cluster.ids.every((id) => !this.#cuts.has(linkOf(party, id)));
  }

  /** The server's process has ended: so have its connections. */
  serverGone(server: ServerId): void {
    for (const stream of this.#streams) {
      if (stream.server === server) stream.breakOff(unreachable());
    }
  }

  partyGone(party: Party): void {
    for (const stream of this.#streams) if (stream.party === party) stream.breakOff(undefined);
  }

  #streamsOf(party: Party, server: ServerId): OpenStream[] {
    return [...this.#streams].filter((one) => one.party === party && one.server === server);
  }

  #coreOf(server: ServerId): ServerCore | undefined {
    return this.#cluster.runningIds.includes(server) ? this.#cluster.core(server) : undefined;
  }

  #delayMs(): number {
    return 0.1 + this.#prng.nextFraction() ** 3 * this.#mix.delayMsMax;
  }

  #channel(party: Party, address: string): ServerChannel {
    const server = Number(/^server-(\d+):/.exec(address)?.[1]) as ServerId;
    const service = (name: keyof ApiServices): unknown =>
      new Proxy(
        {},
        {
          get: (_target, method: string) =>
            method === "watch"
              ? (request: WatchRequest, options: { signal?: AbortSignal }) =>
                  this.#watch(party, server, request, options.signal)
              : (request: unknown, context: CallContext) =>
                  this.#call(party, server, { name, method, request, context }),
        },
      );
    const services = {
      directory: service("directory"),
      ownership: service("ownership"),
      keyspaces: service("keyspaces"),
      cluster: service("cluster"),
    };
    return { address, services: services as unknown as ApiServices, close: () => {} };
  }

  /** As the port promises: TRANSIENT if nothing was sent, UNCERTAIN if no answer came. */
  #call(
    party: Party,
    server: ServerId,
    call: { name: keyof ApiServices; method: string; request: unknown; context: CallContext },
  ): Promise<Answer> {
    const { timeoutMs, signal } = call.context;
    const sentMs = this.#cluster.clock.nowMs();
    return new Promise((resolve) => {
      const end = (answer: Answer): void => {
        cancel();
        signal?.removeEventListener("abort", giveUp);
        resolve(answer);
      };
      const giveUp = (): void => end(failed(localRefusal("UNCERTAIN", `no answer: ${server}`)));
      const cancel = party.clock.after(timeoutMs, giveUp);
      signal?.addEventListener("abort", giveUp);
      const cut = this.#cuts.get(linkOf(party, server));
      if (cut === "refused" || this.#coreOf(server) === undefined) {
        party.clock.after(0.5, () => end(failed(unreachable())));
        return;
      }
      const deliver = (): void => this.#deliver(party, server, { ...call, sentMs, end });
      if (cut === "silent") return;
      if (this.#prng.chance(this.#mix.loss)) return this.#trace.count("callsLost");
      this.#cluster.clock.after(this.#delayMs(), deliver);
      if (!this.#prng.chance(this.#mix.repeat)) return;
      this.#trace.count("callsRepeated");
      this.#cluster.clock.after(10 * this.#delayMs(), deliver);
    });
  }

  #deliver(
    party: Party,
    server: ServerId,
    call: {
      readonly name: keyof ApiServices;
      readonly method: string;
      readonly request: unknown;
      readonly context: CallContext;
      readonly sentMs: number;
      readonly end: (answer: Answer) => void;
    },
  ): void {
    const { clock } = this.#cluster;
    const core = this.#coreOf(server);
    const timeoutMs = call.context.timeoutMs - (clock.nowMs() - call.sentMs);
    if (core === undefined || this.#cuts.has(linkOf(party, server)) || timeoutMs <= 0) return;
    const methods = core.services[call.name] as unknown as Record<string, Method>;
    const answering = methods[call.method]?.(call.request, { timeoutMs });
    const answered = (answer: Answer): void => {
      if (this.#coreOf(server) !== core) return;
      if (answer.ok) this.#onAnswer(answer.value.header);
      const { name } = party;
      this.#trace.say(`${name} ${call.method} at ${server}: ${answer.ok || answer.error.reason}`);
      if (this.#prng.chance(this.#mix.answerLoss)) return this.#trace.count("answersLost");
      clock.after(this.#delayMs(), () => {
        if (this.#coreOf(server) !== core || this.#cuts.has(linkOf(party, server))) return;
        party.clock.enter(() => call.end(answer));
      });
    };
    void answering?.then(answered, this.#onBug);
  }

  #watch(
    party: Party,
    server: ServerId,
    request: WatchRequest,
    signal: AbortSignal | undefined,
  ): AsyncIterable<Frame> {
    const inbox = new Inbox();
    const closing = new AbortController();
    const stream: OpenStream = {
      party,
      server,
      breakOff: (refusal) => {
        if (!this.#streams.delete(stream)) return;
        this.#trace.count("watchesBroken");
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
    const cut = this.#cuts.get(linkOf(party, server));
    const core = this.#coreOf(server);
    if (core === undefined || cut === "refused") {
      party.clock.after(0.5, () => stream.breakOff(unreachable()));
    } else if (cut === undefined) {
      this.#cluster.clock.after(this.#delayMs(), () => {
        if (this.#coreOf(server) !== core) stream.breakOff(unreachable());
        else void this.#pump(stream, core, { request, inbox, closing }).catch(this.#onBug);
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
    core: ServerCore,
    at: { request: WatchRequest; inbox: Inbox; closing: AbortController },
  ): Promise<void> {
    const { clock } = this.#cluster;
    const { signal } = at.closing;
    let lastMs = 0;
    for await (const frame of core.services.directory.watch(at.request, { signal })) {
      if (frame.ok) this.#onAnswer(frame.value.header);
      lastMs = Math.max(lastMs, clock.nowMs() + this.#delayMs());
      clock.after(lastMs - clock.nowMs(), () => {
        if (!this.#streams.has(stream)) return;
        stream.party.clock.enter(() => at.inbox.push(frame, false));
      });
    }
    clock.after(Math.max(0, lastMs - clock.nowMs()), () => stream.breakOff(unreachable()));
  }
}

/** Frames that have arrived, for one reader. */
class Inbox {
  readonly #frames: Frame[] = [];
  #isEnded = false;
  #waiting: ((next: IteratorResult<Frame>) => void) | undefined;

  push(frame: Frame, isLast: boolean): void {
    if (this.#isEnded) return;
    this.#frames.push(frame);
    if (isLast) this.#isEnded = true;
    this.#serve();
  }

  end(): void {
    this.#isEnded = true;
    this.#serve();
  }

  next(): Promise<IteratorResult<Frame>> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#serve();
    });
  }

  #serve(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (this.#frames.length === 0 && !this.#isEnded)) return;
    this.#waiting = undefined;
    const frame = this.#frames.shift();
    waiting(frame === undefined ? { done: true, value: undefined } : { done: false, value: frame });
  }
}

function linkOf(party: Party, server: ServerId): string {
  return `${party.name}-${server}`;
}

function unreachable(): Refusal {
  return localRefusal("TRANSIENT", "nothing was sent");
}
