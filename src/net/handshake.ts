/**
 * Who may talk to whom: the checks of a Hello and of a forwarded call, before anything else is
 * looked at. A foreign cluster, another server under a known address, or an unknown peer is refused
 * by name (research: the cluster-id mismatches of etcd).
 */

import { status } from "@grpc/grpc-js";
import type { ServerId } from "../base/brands.ts";
import { PEER_PROTOCOL_VERSION } from "../wire/peer.ts";
import type { PeerIds } from "../wire/peer-forward.ts";

/** A status for the caller. Nothing was done. */
export interface Refusal {
  readonly code: status.FAILED_PRECONDITION | status.PERMISSION_DENIED | status.INVALID_ARGUMENT;
  readonly reason: RefusalReason;
  readonly details: string;
}

export type RefusalReason =
  | "protocolMismatch"
  | "clusterMismatch"
  | "wrongServer"
  | "unknownPeer"
  | "wrongDirection"
  | "lateStream"
  | "otherStore"
  | "distrusted"
  | "noHello"
  | "malformed";

export interface LocalIds {
  readonly self: ServerId;
  readonly clusterId: string;
}

export function localIds(local: LocalIds, to: ServerId): PeerIds {
  return {
    protocolVersion: PEER_PROTOCOL_VERSION,
    clusterId: local.clusterId,
    from: local.self,
    to,
  };
}

/** What is wrong with ids that were received; undefined: they are for us, from a known peer. */
export function refusalOf(
  ids: PeerIds,
  local: LocalIds,
  isPeer: (server: ServerId) => boolean,
): Refusal | undefined {
  const { FAILED_PRECONDITION, PERMISSION_DENIED } = status;
  if (ids.protocolVersion !== PEER_PROTOCOL_VERSION) {
    const own = PEER_PROTOCOL_VERSION;
    const details = `peer protocol ${ids.protocolVersion}, this server speaks ${own}`;
    return { code: FAILED_PRECONDITION, reason: "protocolMismatch", details };
  }
  if (ids.clusterId !== local.clusterId) {
    const details = `cluster mismatch: this server belongs to cluster "${local.clusterId}"`;
    return { code: FAILED_PRECONDITION, reason: "clusterMismatch", details };
  }
  if (ids.to !== local.self) {
    const details = `wrong server: this is server ${local.self}, not ${ids.to}`;
    return { code: FAILED_PRECONDITION, reason: "wrongServer", details };
  }
  if (!isPeer(ids.from)) {
    const details = `unknown peer: server ${ids.from} is not a peer of server ${local.self}`;
    return { code: PERMISSION_DENIED, reason: "unknownPeer", details };
  }
  return undefined;
}

/** From a server that takes no part, for good: nobody is to rely on it. */
export function distrusted(why: string): Refusal {
  const details = `this server takes no part: ${why}`;
  return { code: status.FAILED_PRECONDITION, reason: "distrusted", details };
}

/**
 * For a peer that says Hello from another store than it had before: a second process under its id,
 * or one that lost its data, and with them what it voted for and acknowledged (law 30).
 */
export function otherStore(peer: ServerId): Refusal {
  const details =
    `another store: server ${peer} is known here with another data directory; ` +
    "give it that one back, and never start an id twice";
  return { code: status.FAILED_PRECONDITION, reason: "otherStore", details };
}

/** The server with the smaller id opens the stream, so that a pair never has two. */
export function dials(self: ServerId, peer: ServerId): boolean {
  return self < peer;
}
