/**
 * The Peer service as grpc-js wants it, and clients whose connections can be cut at once.
 *
 * grpc-js has no timer for a listener that accepts and stays silent, and closing the channel does
 * not close such a connection: it would be left over at every attempt. So the socket is noted where
 * the channel's credentials get to see it (SecureConnector), and cut() destroys it. The version of
 * grpc-js is pinned; test/integration/net/broken-connections.test.ts fails if this stops to work.
 */

import type { Socket } from "node:net";
import {
  type ChannelCredentials,
  type ChannelOptions,
  credentials,
  type experimental,
  loadPackageDefinition,
} from "@grpc/grpc-js";
import type { PeerClient, PeerDefinition } from "../wire/generated/cadastre/peer/v1/Peer.ts";
import type { ProtoGrpcType } from "../wire/generated/peer.ts";
import { loadProto } from "../wire/load.ts";

const loaded = loadPackageDefinition(
  loadProto("cadastre/peer/v1/peer.proto"),
) as unknown as ProtoGrpcType;

const { Peer } = loaded.cadastre.peer.v1;

export const PEER_SERVICE: PeerDefinition = Peer.service;

export interface PeerChannel {
  readonly client: PeerClient;
  /** Closes the channel and destroys its connection, whatever state they are in. Idempotent. */
  cut(): void;
}

/** A client with a channel of its own. Nothing is sent before its first call. */
export function openPeerChannel(address: string, options: ChannelOptions): PeerChannel {
  const sockets = new Sockets();
  const client = new Peer(address, sockets.wrap(credentials.createInsecure()), options);
  return {
    client,
    cut: () => {
      client.close();
      sockets.destroy();
    },
  };
}

/** The sockets of one channel. After destroy() a socket that connects late is destroyed, too. */
class Sockets {
  readonly #open = new Set<Socket>();
  #isDestroyed = false;

  destroy(): void {
    this.#isDestroyed = true;
    for (const socket of this.#open) socket.destroy();
  }

  /** The same credentials, whose connectors show their sockets here first. */
  wrap(inner: ChannelCredentials): ChannelCredentials {
    const connector: ChannelCredentials["_createSecureConnector"] = (...args) =>
      this.#wrapConnector(inner._createSecureConnector(...args));
    return Object.create(inner, { _createSecureConnector: { value: connector } }) as typeof inner;
  }

  #wrapConnector(inner: experimental.SecureConnector): experimental.SecureConnector {
    return {
      connect: (socket) => {
        this.#note(socket);
        return inner.connect(socket);
      },
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    };
  }

  #note(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    if (this.#isDestroyed) socket.destroy();
  }
}
