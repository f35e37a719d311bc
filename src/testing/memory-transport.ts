/**
 * A peer network inside one process: Transport and Forwarder for any number of servers, with links
 * that can be cut. For tests of what lies above a transport; the simulator has a lossy network of
 * its own. It keeps the same promises as net/ (test/conformance/transport.ts).
 */

import { defined } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type {
  ForwardAnswer,
  ForwardCall,
  Forwarder,
  Timers,
  Transport,
  TransportEvents,
} from "../replica/ports.ts";

export interface MemoryServer {
  readonly self: ServerId;
  readonly events: TransportEvents;
  readonly onForward: (from: ServerId, call: ForwardCall) => Promise<ForwardAnswer>;
}

export class MemoryNetwork {
  readonly #timers: Timers;
  readonly #servers = new Map<ServerId, MemoryServer>();
  readonly #cuts = new Set<string>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Adds a server, or restarts one. Everyone who can reach it is told so. */
  join(server: MemoryServer): { readonly transport: Transport; readonly forwarder: Forwarder } {
    this.leave(server.self);
    this.#servers.set(server.self, server);
    for (const peer of this.#peersOf(server.self)) this.#tell(server.self, peer, true);
    return {
      transport: { send: (to, envelope) => this.#send(server, to, envelope) },
      forwarder: { forward: (to, call) => this.#forward(server, to, call) },
    };
  }

  leave(self: ServerId): void {
    const peers = this.#peersOf(self);
    if (!this.#servers.delete(self)) return;
    for (const peer of peers) this.#tellOne(peer, self, false);
  }

  /** Nothing passes between the two, in either direction, until they are healed. */
  cut(a: ServerId, b: ServerId): void {
    if (!this.isConnected(a, b)) return;
    this.#cuts.add(pair(a, b));
    this.#tell(a, b, false);
  }

  heal(a: ServerId, b: ServerId): void {
    if (!this.#cuts.delete(pair(a, b))) return;
    if (this.isConnected(a, b)) this.#tell(a, b, true);
  }

  /** What is under way when a link is cut, or when an end leaves, is lost. */
  #send(from: MemoryServer, to: ServerId, envelope: Envelope): void {
    const target = this.#servers.get(to);
    const deliver = (): void => {
      if (this.#reaches(from, target)) target?.events.onEnvelope(from.self, envelope);
    };
    if (this.#reaches(from, target)) this.#timers.soon(deliver);
  }

  #forward(from: MemoryServer, to: ServerId, call: ForwardCall): Promise<ForwardAnswer> {
    const target = this.#servers.get(to);
    if (!this.#reaches(from, target)) {
      return Promise.resolve({ kind: "failed", outcome: "notApplied", reason: "unreachable" });
    }
    const server = defined(target, "a server that is reached has joined");
    return new Promise((resolve) => {
      const cancel = this.#timers.after(call.timeoutMs, () => {
        resolve({ kind: "failed", outcome: "unknown", reason: "deadlineExceeded" });
      });
      void server.onForward(from.self, call).then((answer) => {
        cancel();
        if (this.#reaches(from, target)) resolve(answer);
        else resolve({ kind: "failed", outcome: "unknown", reason: "unreachable" });
      });
    });
  }

  /** Both are still the processes they were, and their link is whole. */
  #reaches(from: MemoryServer, target: MemoryServer | undefined): boolean {
    return (
      target !== undefined &&
      this.#servers.get(from.self) === from &&
      this.#servers.get(target.self) === target &&
      this.isConnected(from.self, target.self)
    );
  }

  /** Both have joined, and nothing cuts their link. */
  isConnected(a: ServerId, b: ServerId): boolean {
    return a !== b && this.#servers.has(a) && this.#servers.has(b) && !this.#cuts.has(pair(a, b));
  }

  #peersOf(self: ServerId): ServerId[] {
    return [...this.#servers.keys()].filter((peer) => this.isConnected(self, peer));
  }

  #tell(a: ServerId, b: ServerId, isReachable: boolean): void {
    this.#tellOne(a, b, isReachable);
    this.#tellOne(b, a, isReachable);
  }

  #tellOne(self: ServerId, peer: ServerId, isReachable: boolean): void {
    const server = this.#servers.get(self);
    this.#timers.soon(() => {
      if (server === undefined || this.#servers.get(self) !== server) return;
      if (isReachable) server.events.onPeerReachable(peer);
      else server.events.onPeerUnreachable(peer);
    });
  }
}

function pair(a: ServerId, b: ServerId): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}
