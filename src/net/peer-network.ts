/**
 * The peer network of one server over gRPC: a Transport, a Forwarder and a SnapshotSource, and the
 * port that serves all three. One stream per pair of servers carries the messages of all groups
 * (peer-link.ts); forwarded commands (forwarder.ts) and snapshots (snapshot-source.ts) have
 * connections of their own. The peer port is never the client port
 * (law 32).
 */

import { randomBytes } from "node:crypto";
import { assert, defined } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import type {
  Clock,
  Forwarder,
  Logger,
  SnapshotSource,
  SnapshotStore,
  Timers,
  Transport,
  TransportEvents,
} from "../replica/ports.ts";
import { Dialer } from "./dialer.ts";
import { GrpcForwarder } from "./forwarder.ts";
import { dials } from "./handshake.ts";
import { LogLimit } from "./log-limit.ts";
import { type NetworkContext, PeerLink, type PeerStats } from "./peer-link.ts";
import { type OnForward, PeerServer } from "./peer-server.ts";
import { type SendStats, SnapshotSender } from "./snapshot-sender.ts";
import { GrpcSnapshotSource } from "./snapshot-source.ts";
import type { Standing } from "./standing.ts";
import { DEFAULT_TUNING, type PeerTuning } from "./tuning.ts";

export interface PeerAddress {
  readonly id: ServerId;
  /** host:port of its peer port. */
  readonly address: string;
}

export interface PeerNetworkOptions {
  readonly self: ServerId;
  readonly clusterId: string;
  /** This server's store, and what it remembers of others; peers that met it refuse any other. */
  readonly standing: Standing;
  /** host:port of the peer port; port 0 for any free one. */
  readonly listen: string;
  /** May contain this server, which is left out. */
  readonly peers: readonly PeerAddress[];
  readonly events: TransportEvents;
  /** Answers a command that another server forwarded here. Must not reject. */
  readonly onForward: OnForward;
  /** The files that peers may fetch. */
  readonly snapshots: Pick<SnapshotStore, "openFile">;
  /** At most so fast are they sent, all of them together. */
  readonly snapshotBytesPerSecond: number;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Uniform in [0, 1); spreads the dials of many servers. */
  readonly randomFraction?: () => number;
  readonly tuning?: Partial<PeerTuning>;
}

export interface PeerNetwork {
  readonly transport: Transport;
  readonly forwarder: Forwarder;
  readonly snapshotSource: SnapshotSource;
  /** host:port of the peer port, as bound. */
  readonly address: string;
  /** Replaces the list of peers: new ones are dialled, missing ones dropped, moved ones moved. */
  setPeers(peers: readonly PeerAddress[]): void;
  /** This server takes no part any more: ends all streams and makes no new ones. */
  abstain(): void;
  stats(): readonly PeerStats[];
  snapshotStats(): SendStats;
  /** Ends everything within a second; nothing is delivered afterwards. Idempotent. */
  close(): Promise<void>;
}

/** Opens the peer port and starts to dial. Rejects with {@link BindError} from listener.ts. */
export async function createPeerNetwork(options: PeerNetworkOptions): Promise<PeerNetwork> {
  assert(options.clusterId !== "", "a cluster id is not empty");
  assert(options.standing.storeUuid !== "", "a store has a uuid");
  const network = new GrpcPeerNetwork(options);
  await network.start();
  return network;
}

interface Peer {
  readonly link: PeerLink;
  /** Present when this server has the smaller id. */
  readonly dialer: Dialer | undefined;
  address: string;
}

class GrpcPeerNetwork implements PeerNetwork {
  readonly transport: Transport;
  readonly forwarder: Forwarder;
  readonly snapshotSource: SnapshotSource;
  readonly #options: PeerNetworkOptions;
  readonly #context: NetworkContext;
  readonly #forwarder: GrpcForwarder;
  readonly #snapshotSource: GrpcSnapshotSource;
  readonly #sender: SnapshotSender;
  readonly #peers = new Map<ServerId, Peer>();
  #server: PeerServer | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PeerNetworkOptions) {
    this.#options = options;
    const { self, clusterId, standing, events, logger, clock, timers } = options;
    this.#context = {
      self,
      clusterId,
      standing,
      bootNonce: randomBytes(12).toString("hex"),
      events,
      logger,
      logLimit: new LogLimit(logger, clock),
      clock,
      timers,
      tuning: { ...DEFAULT_TUNING, ...options.tuning },
      randomFraction: options.randomFraction ?? Math.random,
    };
    const addressOf = (id: ServerId): string | undefined => this.#peers.get(id)?.address;
    this.#forwarder = new GrpcForwarder(this.#context, addressOf);
    this.forwarder = this.#forwarder;
    this.#snapshotSource = new GrpcSnapshotSource(this.#context, addressOf);
    this.snapshotSource = this.#snapshotSource;
    this.#sender = new SnapshotSender({
      context: this.#context,
      openSnapshot: (name) => options.snapshots.openFile(name),
      bytesPerSecond: options.snapshotBytesPerSecond,
    });
    this.transport = {
      send: (to, envelope) => this.#peers.get(to)?.link.send(envelope),
    };
  }

  async start(): Promise<void> {
    const { listen, onForward, peers } = this.#options;
    const linkTo = (id: ServerId): PeerLink | undefined => this.#peers.get(id)?.link;
    this.#server = await PeerServer.start({
      listen,
      context: this.#context,
      linkTo,
      onForward,
      sender: this.#sender,
    });
    this.setPeers(peers);
  }

  get address(): string {
    return defined(this.#server, "the network was started").address;
  }

  setPeers(peers: readonly PeerAddress[]): void {
    if (this.#closing !== undefined) return;
    const kept = new Set<ServerId>();
    for (const { id, address } of peers) {
      if (id === this.#context.self) continue;
      assert(!kept.has(id), "a peer is listed once");
      kept.add(id);
      const peer = this.#peers.get(id);
      if (peer === undefined) this.#add(id, address);
      else {
        peer.address = address;
        peer.dialer?.setAddress(address);
      }
    }
    for (const [id, peer] of this.#peers) {
      if (kept.has(id)) continue;
      this.#peers.delete(id);
      closePeer(peer);
    }
    this.#forwarder.dropStaleChannels();
  }

  abstain(): void {
    for (const { link, dialer } of this.#peers.values()) {
      dialer?.close();
      link.close();
      link.markUnreachable("this server takes no part");
    }
  }

  stats(): readonly PeerStats[] {
    return [...this.#peers.values()].map((peer) => peer.link.stats);
  }

  snapshotStats(): SendStats {
    return this.#sender.stats;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #add(id: ServerId, address: string): void {
    const link = new PeerLink(id, this.#context);
    const { self, standing } = this.#context;
    const isDialled = dials(self, id) && standing.distrust() === undefined;
    const dialer = isDialled ? new Dialer(link, address, this.#context) : undefined;
    this.#peers.set(id, { link, dialer, address });
  }

  async #close(): Promise<void> {
    for (const peer of this.#peers.values()) closePeer(peer);
    this.#peers.clear();
    this.#forwarder.close();
    this.#snapshotSource.close();
    await this.#server?.close();
  }
}

function closePeer({ link, dialer }: Peer): void {
  dialer?.close();
  link.close();
}
