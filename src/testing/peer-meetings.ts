/**
 * How the servers of a simulated network meet: the Hello exchange of net/ with its judgement of
 * stores (law 30), and what each process remembers of the others' acknowledgements. Two processes
 * have met when each has accepted the other's Hello; nothing is heeded before. They stay so for as
 * long as both live: a broken connection between processes that know each other tells them nothing
 * new.
 */

import type { ServerId } from "../base/brands.ts";
import { dials, type Refusal } from "../net/handshake.ts";
import { heedRefusal, refusalByStores, SeenByGroup, type Standing } from "../net/standing.ts";
import type { Envelope } from "../raft/messages.ts";
import type { SeenAcknowledged } from "../wire/peer-forward.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** One process of a server. */
export interface Meeter {
  readonly self: ServerId;
  readonly clock: ProcessClock;
  /** Of this process alone. */
  readonly bootNonce: string;
  readonly standing: Standing;
}

interface StoreHello {
  readonly from: ServerId;
  readonly storeUuid: string;
  readonly acknowledged: readonly SeenAcknowledged[];
}

export interface PeerMeetingsOptions {
  readonly world: VirtualClock;
  readonly delayMs: () => number;
  /** Whether what the one process sends reaches the other one now. */
  readonly isConnected: (from: Meeter, to: Meeter) => boolean;
}

export class PeerMeetings {
  readonly #options: PeerMeetingsOptions;
  readonly #met = new WeakMap<Meeter, Set<Meeter>>();
  readonly #seen = new WeakMap<Meeter, Map<ServerId, SeenByGroup>>();

  constructor(options: PeerMeetingsOptions) {
    this.#options = options;
  }

  haveMet(one: Meeter, other: Meeter): boolean {
    return this.#met.get(one)?.has(other) === true;
  }

  /** Neither heeds the other any more before they meet anew. Answers whether they had met. */
  part(one: Meeter, other: Meeter): boolean {
    this.#met.get(other)?.delete(one);
    return this.#met.get(one)?.delete(other) === true;
  }

  /** One exchange of Hellos. It may come to nothing, and is not repeated. */
  begin(one: Meeter, other: Meeter, onMet: () => void): void {
    const [dialler, called] = inRoles(one, other);
    dialler.clock.enter(() => {
      if (dialler.standing.distrust() !== undefined) return;
      const hello = this.#helloOf(dialler, called);
      this.#tell(dialler, called, () => this.#onHello(dialler, called, hello, onMet));
    });
  }

  /**
   * Two that have met have a connection again. On each the dialler's first message shows that it
   * has accepted the other end, which may have missed it before.
   */
  reconnect(one: Meeter, other: Meeter): void {
    const [dialler, called] = inRoles(one, other);
    this.#tell(dialler, called, () => called.standing.onRemembered(dialler.self));
  }

  /** A process has got a message from a peer's process of that nonce. */
  note(receiver: Meeter, from: ServerId, envelope: Envelope, bootNonce: string): void {
    this.#seenOf(receiver, from).note(envelope, bootNonce);
  }

  // ---- The called end

  #onHello(dialler: Meeter, called: Meeter, hello: StoreHello, onMet: () => void): void {
    const answer = (): void => {
      const refusal = refusalByStores(hello, called);
      if (refusal !== undefined) {
        this.#refuse(called, dialler, refusal);
        return;
      }
      const ownHello = this.#helloOf(called, dialler);
      this.#tell(called, dialler, () => this.#onAnswer(dialler, called, ownHello, onMet));
    };
    if (refusalByStores(hello, called) !== undefined) answer();
    else whenRemembered(called, hello, answer);
  }

  // ---- The dialling end

  #onAnswer(dialler: Meeter, called: Meeter, hello: StoreHello, onMet: () => void): void {
    whenRemembered(dialler, hello, () => {
      const refusal = refusalByStores(hello, dialler);
      if (refusal !== undefined) {
        this.#refuse(dialler, called, refusal);
        return;
      }
      if (this.haveMet(dialler, called)) return;
      this.#meets(dialler, called);
      this.#meets(called, dialler);
      dialler.standing.onRemembered(called.self);
      this.reconnect(dialler, called);
      onMet();
    });
  }

  #refuse(one: Meeter, other: Meeter, refusal: Refusal): void {
    this.#tell(one, other, () => heedRefusal(one.self, refusal, other.standing));
  }

  #tell(from: Meeter, to: Meeter, run: () => void): void {
    const { world, delayMs, isConnected } = this.#options;
    world.after(delayMs(), () => {
      if (isConnected(from, to)) to.clock.enter(run);
    });
  }

  #helloOf(one: Meeter, to: Meeter): StoreHello {
    const { storeUuid } = one.standing;
    return { from: one.self, storeUuid, acknowledged: this.#seenOf(one, to.self).all };
  }

  #meets(one: Meeter, other: Meeter): void {
    const met = this.#met.get(one) ?? new Set();
    this.#met.set(one, met.add(other));
  }

  #seenOf(one: Meeter, peer: ServerId): SeenByGroup {
    const byPeer = this.#seen.get(one) ?? new Map<ServerId, SeenByGroup>();
    this.#seen.set(one, byPeer);
    let seen = byPeer.get(peer);
    if (seen === undefined) byPeer.set(peer, (seen = new SeenByGroup()));
    return seen;
  }
}

/** Who dials, and who is called. */
function inRoles(one: Meeter, other: Meeter): readonly [Meeter, Meeter] {
  return dials(one.self, other.self) ? [one, other] : [other, one];
}

/** Runs at once, or when the peer's store is remembered for good; perhaps never. */
function whenRemembered({ standing }: Meeter, hello: StoreHello, run: () => void): void {
  if (standing.isRemembered(hello.from)) run();
  else void standing.remember(hello.from, hello.storeUuid).then(run);
}
