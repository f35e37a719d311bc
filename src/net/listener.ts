/**
 * The peer port: a plain TCP listener of our own whose connections are handed to the gRPC server.
 * Owning the sockets gives exact bind errors and lets one connection be cut at once, half-open or
 * not, which grpc-js's server does not offer.
 */

import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** The peer port could not be opened. The message has one line: what, why, and what to do. */
export class BindError extends Error {
  override readonly name = "BindError";
  readonly code: "addressInUse" | "badAddress";

  constructor(code: BindError["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface Listener {
  /** host:port as bound: with port 0 the port that was found. */
  readonly address: string;
  /** Destroys the connection whose far end is at remote ("address:port"), if it is still there. */
  cut(remote: string): void;
  /** Refuses new connections and resolves when the old ones are gone. */
  stop(): Promise<void>;
  cutAll(): void;
}

/** Opens "host:port", "[ipv6]:port", port 0 for any. Rejects with BindError. */
export async function listen(
  address: string,
  onConnection: (socket: Socket) => void,
): Promise<Listener> {
  const { host, port } = parseAddress(address);
  const sockets = new Map<string, Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    const remote = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(remote, socket);
    socket.once("close", () => sockets.delete(remote));
    // Errors of a connection end it; the gRPC server above sees the close.
    socket.on("error", () => {});
    onConnection(socket);
  });
  await bind(server, host, port, address);
  return {
    address: boundAddress(server),
    cut: (remote) => sockets.get(remote)?.destroy(),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
    cutAll: () => {
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

function bind(server: Server, host: string, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toBindError(address, error)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function toBindError(address: string, error: NodeJS.ErrnoException): BindError {
  if (error.code === "EADDRINUSE") {
    const cure = "stop it, or give another port in listen.peer";
    return bindError("addressInUse", address, `another process uses the port; ${cure}`, error);
  }
  const cure = "choose an address of this machine and a port that this user may open";
  return bindError("badAddress", address, `${error.code ?? error.message}; ${cure}`, error);
}

function bindError(
  code: BindError["code"],
  address: string,
  text: string,
  cause?: unknown,
): BindError {
  return new BindError(code, `cannot listen for peers on ${address}: ${text}`, cause);
}

function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) {
    const cure = "write it like 10.0.0.1:7001 or [fd00::1]:7001";
    throw bindError("badAddress", address, `it is not host:port; ${cure}`);
  }
  return { host, port };
}

function boundAddress(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
}
