/**
 * A peer network that does to messages what networks do: Transport and Forwarder for any number of
 * servers in one process, over directed links that lose, delay, repeat and reorder, that are cut
 * loudly or silently, and from which a message of long ago can arrive once more.
 *
 * All chance comes from the generator that it is made with. For a network without faults see
 * memory-transport.ts.
 */

import type { ServerId } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import type { Envelope } from "../raft/messages.ts";
import type {
  ForwardAnswer,
  ForwardCall,
  Forwarder,
  Transport,
  TransportEvents,
} from "../replica/ports.ts";
import { type Meeter, PeerMeetings } from "./peer-meetings.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What happens to each message of a link; chances are fractions of 1. */
export interface LinkQuality {
  readonly delayMsMax: number;
  readonly loss: number;
  readonly duplication: number;
  /** Overtakes or is overtaken: it does not wait for those before it. */
  readonly reordering: number;
}

export const PERFECT_LINKS: LinkQuality = {
  delayMsMax: 1,
  loss: 0,
  duplication: 0,
  reordering: 0,
};

/** "refused": both ends notice at once. "silent": what is sent vanishes, noticed after a while. */
export type CutKind = "refused" | "silent";

export interface NetworkMember extends Meeter {
  readonly events: TransportEvents;
  readonly onForward: (from: ServerId, call: ForwardCall) => Promise<ForwardAnswer>;
}

/** What a network tells of the harm that it has done, by name. */
export type NetworkHarm =
  | "messagesLost"
  | "messagesRepeated"
  | "messagesReordered"
  | "oldMessages"
  | "forwardsLost"
  | "forwardAnswersLost";

interface Link {
  cut: CutKind | undefined;
  /** Counts cuts and rejoinings: what is under way over one of them is lost. */
  generation: number;
  /** Nothing in order arrives before it. */
  lastArrivalMs: number;
}

interface OldMessage {
  readonly from: ServerId;
  readonly to: ServerId;
  readonly envelope: Envelope;
  /** Of the process that sent it. */
  readonly bootNonce: string;
}

/** As long as net/ takes to declare a silent stream dead. */
const SILENCE_MS = 2_000;
/** Old messages that are kept to be delivered once more, much later. */
const OLD_MESSAGES_MAX = 200;
const RECONNECT_MS_MAX = 500;

export class FaultyNetwork {
  readonly #world: VirtualClock;
  readonly #prng: Prng;
  readonly #onHarm: (harm: NetworkHarm) => void;
  #quality: LinkQuality;
  readonly #members = new Map<ServerId, NetworkMember>();
  readonly #links = new Map<string, Link>();
  readonly #oldMessages: OldMessage[] = [];
  readonly #meetings: PeerMeetings;
  readonly #mayMeet: (one: ServerId, other: ServerId) => boolean;

  constructor(options: {
    readonly world: VirtualClock;
    readonly prng: Prng;
    readonly quality: LinkQuality;
    readonly onHarm?: (harm: NetworkHarm) => void;
    /** Whether two servers that could meet do so now. */
    readonly mayMeet?: (one: ServerId, other: ServerId) => boolean;
  }) {
    this.#world = options.world;
    this.#prng = options.prng;
    this.#quality = options.quality;
    this.#onHarm = options.onHarm ?? ((): void => {});
    this.#mayMeet = options.mayMeet ?? ((): boolean => true);
    this.#meetings = new PeerMeetings({
      world: options.world,
      delayMs: () => this.#delayMs(),
      isConnected: (from, to) =>
        this.#members.get(from.self) === from &&
        this.#members.get(to.self) === to &&
        !this.isCut(from.self, to.self),
    });
  }

  /** Of all links, from now on. */
  setQuality(quality: LinkQuality): void {
    this.#quality = quality;
  }

  /** Adds a server, or its next process. Those who meet it are told so. */
  join(member: NetworkMember): { readonly transport: Transport; readonly forwarder: Forwarder } {
    this.leave(member.self);
    this.#members.set(member.self, member);
    for (const peer of this.#members.keys()) {
      if (peer === member.self) continue;
      this.#link(peer, member.self).generation++;
      this.#renew(member.self, peer);
    }
    return {
      transport: { send: (to, envelope) => this.#send(member, to, envelope) },
      forwarder: { forward: (to, call) => this.#forward(member, to, call) },
    };
  }

  /** The process has ended: its peers' kernels say so at once. */
  leave(self: ServerId): void {
    if (!this.#members.delete(self)) return;
    for (const peer of this.#members.keys()) this.#tellUnreachable(peer, self, 1);
  }

  /** The process takes no part any more, and says so to whoever says Hello. */
  abstain(self: ServerId): void {
    const member = this.#members.get(self);
    if (member === undefined) return;
    for (const [peer, other] of this.#members) {
      if (this.#meetings.part(member, other)) this.#tellUnreachable(peer, self, 1);
    }
  }

  /** Whether these servers' present processes heed each other. */
  haveMet(one: ServerId, other: ServerId): boolean {
    const [member, peer] = [this.#members.get(one), this.#members.get(other)];
    return member !== undefined && peer !== undefined && this.#meetings.haveMet(member, peer);
  }

  /** Cuts one direction. */
  cut(from: ServerId, to: ServerId, kind: CutKind): void {
    const link = this.#link(from, to);
    if (link.cut === "refused" || link.cut === kind) return;
    link.cut = kind;
    link.generation++;
    const noticeMs = kind === "refused" ? 1 : SILENCE_MS;
    const { generation } = link;
    this.#world.after(noticeMs, () => {
      if (link.cut === undefined || link.generation !== generation) return;
      this.#tellUnreachable(from, to, 0);
      this.#tellUnreachable(to, from, 0);
    });
  }

  heal(from: ServerId, to: ServerId): void {
    const link = this.#link(from, to);
    if (link.cut === undefined) return;
    link.cut = undefined;
    this.#renew(from, to);
  }

  healAll(): void {
    for (const from of this.#members.keys()) {
      for (const to of this.#members.keys()) if (from !== to) this.heal(from, to);
    }
    for (const link of this.#links.values()) link.cut = undefined;
  }

  isCut(from: ServerId, to: ServerId): boolean {
    return this.#link(from, to).cut !== undefined;
  }

  /** A message of long ago arrives once more, whoever its receiver is by now. */
  repeatOldMessage(): void {
    if (this.#oldMessages.length === 0) return;
    const { from, to, envelope, bootNonce } = this.#prng.pick(this.#oldMessages);
    this.#onHarm("oldMessages");
    const target = this.#members.get(to);
    target?.clock.enter(() => this.#deliver(target, from, envelope, bootNonce));
  }

  #link(from: ServerId, to: ServerId): Link {
    const name = `${from}>${to}`;
    let link = this.#links.get(name);
    if (link === undefined) {
      link = { cut: undefined, generation: 0, lastArrivalMs: 0 };
      this.#links.set(name, link);
    }
    return link;
  }

  /** A new connection: whoever sends over it is told, after a while of dialling and Hellos. */
  #renew(from: ServerId, to: ServerId): void {
    const link = this.#link(from, to);
    const generation = ++link.generation;
    this.#world.after(this.#prng.nextFraction() * RECONNECT_MS_MAX, () => {
      if (link.generation !== generation || link.cut !== undefined) return;
      const [sender, target] = [this.#members.get(from), this.#members.get(to)];
      if (sender === undefined || target === undefined) return;
      if (this.#meetings.haveMet(sender, target)) {
        this.#meetings.reconnect(sender, target);
        sender.clock.enter(() => sender.events.onPeerReachable(to));
      } else if (this.#mayMeet(from, to) && !this.isCut(to, from)) {
        this.#meetings.begin(sender, target, () => {
          sender.clock.enter(() => sender.events.onPeerReachable(to));
          target.clock.enter(() => target.events.onPeerReachable(from));
        });
      }
    });
  }

  #tellUnreachable(self: ServerId, peer: ServerId, delayMsMax: number): void {
    const member = this.#members.get(self);
    if (member === undefined) return;
    this.#world.after(this.#prng.nextFraction() * delayMsMax, () => {
      member.clock.enter(() => member.events.onPeerUnreachable(peer));
    });
  }

  #delayMs(): number {
    return 0.05 + this.#prng.nextFraction() ** 2 * this.#quality.delayMsMax;
  }

  #send(sender: NetworkMember, to: ServerId, envelope: Envelope): void {
    const from = sender.self;
    const link = this.#link(from, to);
    const target = this.#members.get(to);
    const { bootNonce } = sender;
    const isJoined = this.#members.get(from) === sender;
    if (!isJoined || sender.clock.isKilled || target === undefined) return;
    if (!this.#meetings.haveMet(sender, target)) return;
    this.#keepOld({ from, to, envelope, bootNonce });
    if (link.cut !== undefined) return;
    if (this.#prng.chance(this.#quality.loss)) return this.#onHarm("messagesLost");
    const { generation } = link;
    const arrive = (): void => {
      // The link was cut or made anew, or the process ended, while it was under way.
      if (link.generation !== generation || this.#members.get(to) !== target) return;
      target.clock.enter(() => this.#deliver(target, from, envelope, bootNonce));
    };
    this.#world.after(this.#arrivalIn(link), arrive);
    if (!this.#prng.chance(this.#quality.duplication)) return;
    this.#onHarm("messagesRepeated");
    this.#world.after(3 * this.#delayMs(), arrive);
  }

  #deliver(to: NetworkMember, from: ServerId, envelope: Envelope, bootNonce: string): void {
    if (to.standing.distrust() !== undefined) return;
    this.#meetings.note(to, from, envelope, bootNonce);
    to.events.onEnvelope(from, envelope);
  }

  /** In order behind what was sent before, or out of order. */
  #arrivalIn(link: Link): number {
    const nowMs = this.#world.nowMs();
    const atMs = nowMs + this.#delayMs();
    if (this.#prng.chance(this.#quality.reordering)) {
      this.#onHarm("messagesReordered");
      return 2 * (atMs - nowMs);
    }
    link.lastArrivalMs = Math.max(link.lastArrivalMs, atMs);
    return link.lastArrivalMs - nowMs;
  }

  #forward(sender: NetworkMember, to: ServerId, call: ForwardCall): Promise<ForwardAnswer> {
    const target = this.#members.get(to);
    const link = this.#link(sender.self, to);
    if (target === undefined || link.cut === "refused") {
      return Promise.resolve({ kind: "failed", outcome: "notApplied", reason: "unreachable" });
    }
    return new Promise((resolve) => {
      const end = (answer: ForwardAnswer): void => {
        cancel();
        resolve(answer);
      };
      const cancel = sender.clock.after(call.timeoutMs, () => end(UNANSWERED));
      if (link.cut !== undefined) return;
      if (this.#prng.chance(this.#quality.loss)) return this.#onHarm("forwardsLost");
      this.#world.after(this.#arrivalIn(link), () => {
        if (this.#members.get(to) !== target || link.cut !== undefined) return;
        target.clock.enter(() => this.#answerForward(sender, target, call, end));
      });
    });
  }

  #answerForward(
    sender: NetworkMember,
    target: NetworkMember,
    call: ForwardCall,
    end: (answer: ForwardAnswer) => void,
  ): void {
    const back = this.#link(target.self, sender.self);
    void target.onForward(sender.self, call).then((answer) => {
      if (target.clock.isKilled || back.cut !== undefined) return;
      if (this.#prng.chance(this.#quality.loss)) return this.#onHarm("forwardAnswersLost");
      this.#world.after(this.#arrivalIn(back), () => {
        if (this.#members.get(target.self) !== target || back.cut !== undefined) return;
        sender.clock.enter(() => end(answer));
      });
    });
  }

  #keepOld(message: OldMessage): void {
    if (this.#oldMessages.length < OLD_MESSAGES_MAX) this.#oldMessages.push(message);
    else if (this.#prng.chance(0.05)) {
      this.#oldMessages[this.#prng.nextInteger(0, OLD_MESSAGES_MAX - 1)] = message;
    }
  }
}

const UNANSWERED: ForwardAnswer = {
  kind: "failed",
  outcome: "unknown",
  reason: "deadlineExceeded",
};
