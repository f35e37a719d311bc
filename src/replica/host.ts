/**
 * All replicas of one server: hands out ticks and messages, and checks that a message is from and
 * to the replica that it names before raft sees it.
 */

import { assert } from "../base/assert.ts";
import type { GroupId, ReplicaId, ServerId } from "../base/brands.ts";
import type { Envelope, Message } from "../raft/messages.ts";
import type { Logger } from "./ports.ts";

/** What the host needs of a replica, whatever its machine. */
export interface HostedReplica {
  readonly group: GroupId;
  readonly self: ReplicaId;
  receive(from: ReplicaId, message: Message): void;
  peerUnreachable(peer: ReplicaId): void;
  tick(): void;
  stop(): void;
  settled(): Promise<void>;
  transferLeadership(): Promise<unknown>;
}

export class ReplicaHost {
  readonly #replicas = new Map<GroupId, HostedReplica>();
  readonly #logger: Logger;
  readonly #takesPart: () => boolean;

  /** While this server takes no part, messages and ticks are dropped: no replica does anything. */
  constructor(logger: Logger, takesPart: () => boolean = () => true) {
    this.#logger = logger;
    this.#takesPart = takesPart;
  }

  add(replica: HostedReplica): void {
    assert(!this.#replicas.has(replica.group), "a server has one replica of a group");
    this.#replicas.set(replica.group, replica);
  }

  onEnvelope(from: ServerId, envelope: Envelope): void {
    if (!this.#takesPart()) return;
    const replica = this.#replicas.get(envelope.group);
    const isForUs = replica?.self === envelope.to && replicaOf(from) === envelope.from;
    if (replica === undefined || !isForUs) {
      const { group, from: fromReplica, to } = envelope;
      this.#logger.warn("misdirectedMessage", { fromServer: from, group, fromReplica, to });
      return;
    }
    replica.receive(envelope.from, envelope.message);
  }

  onPeerUnreachable(peer: ServerId): void {
    if (!this.#takesPart()) return;
    for (const replica of this.#replicas.values()) replica.peerUnreachable(replicaOf(peer));
  }

  tick(): void {
    if (!this.#takesPart()) return;
    for (const replica of this.#replicas.values()) replica.tick();
  }

  /** Moves what leadership there is to other servers; resolves when that has worked, or not. */
  async handOver(): Promise<void> {
    await Promise.all([...this.#replicas.values()].map((replica) => replica.transferLeadership()));
  }

  stop(): void {
    for (const replica of this.#replicas.values()) replica.stop();
  }

  /** Resolves when, after a stop, no replica touches its files any more. */
  async settled(): Promise<void> {
    for (const replica of this.#replicas.values()) await replica.settled();
  }
}

/** A group is born with one replica per server, and each has its server's number. */
export function replicaOf(server: ServerId): ReplicaId {
  return server as number as ReplicaId;
}

/** The inverse of {@link replicaOf}. */
export function serverOf(replica: ReplicaId): ServerId {
  return replica as number as ServerId;
}
