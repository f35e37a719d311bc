/**
 * What the tests of the peer network share: real clock and timers, a recording logger, servers that
 * write down what they are told, waiting for a condition, and a TCP proxy that can go silent.
 */

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type {
  GroupId,
  LogIndex,
  LogTimeMs,
  MonotonicMs,
  ReplicaId,
} from "../../../src/base/brands.ts";
import type { ServerId, Term } from "../../../src/base/brands.ts";
import { createPeerNetwork, type PeerNetwork } from "../../../src/net/peer-network.ts";
import type { PeerNetworkOptions } from "../../../src/net/peer-network.ts";
import { type Standing, volatileStanding } from "../../../src/net/standing.ts";
import type { AppendEntries, Envelope, Message } from "../../../src/raft/messages.ts";
import type { Clock, ForwardAnswer, Logger, Timers } from "../../../src/replica/ports.ts";

export const CLUSTER = "cluster-a";

export const realClock: Clock = { nowMs: () => performance.now() as MonotonicMs };

export const realTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  afterReading: (run) => {
    setImmediate(() => setImmediate(run));
  },
  soon: (run) => {
    setImmediate(run);
  },
};

export interface LogLine {
  readonly level: keyof Logger;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function recordingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const record =
    (level: keyof Logger) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      lines.push({ level, event, fields });
    };
  return {
    lines,
    debug: record("debug"),
    info: record("info"),
    warn: record("warn"),
    error: record("error"),
  };
}

/** Resolves when the condition holds; rejects after the deadline with its name. */
export async function until(
  what: string,
  condition: () => boolean,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Resolves when the value has not changed for a tenth of a second. */
export async function settled(value: () => number): Promise<void> {
  let last = value();
  let sinceMs = performance.now();
  await until("it settles", () => {
    if (value() !== last) {
      last = value();
      sinceMs = performance.now();
    }
    return performance.now() - sinceMs >= 100;
  });
}

export interface TestServer {
  readonly network: PeerNetwork;
  readonly received: { readonly from: ServerId; readonly envelope: Envelope }[];
  /** "reachable 2", "unreachable 2", ... */
  readonly told: string[];
  readonly log: LogLine[];
}

export type StartOptions = Partial<Omit<PeerNetworkOptions, "self" | "peers" | "standing">> & {
  readonly self: number;
  readonly storeUuid?: string;
  readonly standing?: Partial<Standing>;
  readonly peers?: Readonly<Record<number, string>>;
};

const running = new Set<PeerNetwork>();

/** Starts a server on a free port of the loopback. closeAll() ends it. */
export async function startServer(options: StartOptions): Promise<TestServer> {
  const { self, peers, storeUuid = `store ${self}`, standing, ...rest } = options;
  const received: TestServer["received"] = [];
  const told: string[] = [];
  const logger = recordingLogger();
  const network = await createPeerNetwork({
    self: self as ServerId,
    clusterId: CLUSTER,
    standing: { ...volatileStanding(storeUuid), ...standing },
    listen: "127.0.0.1:0",
    peers: peerList(peers ?? {}),
    events: {
      onEnvelope: (from, envelope) => received.push({ from, envelope }),
      onPeerReachable: (peer) => told.push(`reachable ${peer}`),
      onPeerUnreachable: (peer) => told.push(`unreachable ${peer}`),
    },
    onForward: () => Promise.resolve(NOT_LEADER),
    snapshots: { openFile: () => Promise.resolve(undefined) },
    snapshotBytesPerSecond: 1e9,
    logger,
    clock: realClock,
    timers: realTimers,
    ...rest,
  });
  running.add(network);
  return { network, received, told, log: logger.lines };
}

export const NOT_LEADER: ForwardAnswer = {
  kind: "failed",
  outcome: "notApplied",
  reason: "notLeader",
};

export function peerList(peers: Readonly<Record<number, string>>): {
  id: ServerId;
  address: string;
}[] {
  return Object.entries(peers).map(([id, address]) => ({ id: Number(id) as ServerId, address }));
}

/** Two servers, 1 and 2, connected. 1 dials. */
export async function startPair(
  options: Partial<Omit<StartOptions, "self" | "peers">> = {},
): Promise<{ one: TestServer; two: TestServer }> {
  const two = await startServer({ ...options, self: 2, peers: { 1: "127.0.0.1:1" } });
  const one = await startServer({ ...options, self: 1, peers: { 2: two.network.address } });
  await connected(one, two);
  return { one, two };
}

export async function connected(one: TestServer, two: TestServer): Promise<void> {
  await until("both sides are reachable", () =>
    [one, two].every(({ network }) => network.stats().every((peer) => peer.isReachable)),
  );
}

export async function closeAll(): Promise<void> {
  await Promise.all([...running].map((network) => network.close()));
  running.clear();
}

export const id = {
  server: (value: number): ServerId => value as ServerId,
  replica: (value: number): ReplicaId => value as ReplicaId,
  group: (value: number): GroupId => value as GroupId,
};

export function envelope(message: Message, group = 1): Envelope {
  return { group: id.group(group), from: id.replica(1), to: id.replica(2), message };
}

export function heartbeat(round: number): Envelope {
  return envelope({ kind: "heartbeat", term: 3 as Term, commitIndex: 0 as LogIndex, round });
}

/** An append of entries with payloads of these sizes, after prevIndex. */
export function append(prevIndex: number, payloadBytes: readonly number[]): Envelope {
  const message: AppendEntries = {
    kind: "appendEntries",
    term: 3 as Term,
    prevIndex: prevIndex as LogIndex,
    prevTerm: 3 as Term,
    commitIndex: 0 as LogIndex,
    entries: payloadBytes.map((bytes, i) => ({
      index: (prevIndex + 1 + i) as LogIndex,
      term: 3 as Term,
      kind: "command",
      timeMs: (1_000 + i) as LogTimeMs,
      payload: new Uint8Array(bytes).fill(i + 1),
    })),
  };
  return envelope(message);
}

export interface Proxy {
  readonly address: string;
  /** Stops to read, in both directions, and keeps all connections open; nothing is lost. */
  freeze(): void;
  thaw(): void;
  /** Ends all connections, and goes on accepting others. */
  cut(): void;
  /** Connections that are open on the near side. */
  readonly connections: () => number;
  /** Connections that were ever made to it. */
  readonly accepted: () => number;
  close(): void;
}

/** A TCP proxy to `target` ("host:port"); undefined: it accepts and stays silent for ever. */
export async function startProxy(target: string | undefined): Promise<Proxy> {
  const near = new Set<Socket>();
  const all = new Set<Socket>();
  let isFrozen = false;
  let accepted = 0;
  const keep = (socket: Socket, set: Set<Socket>): void => {
    all.add(socket);
    set.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      all.delete(socket);
      set.delete(socket);
    });
    if (isFrozen) socket.pause();
  };
  const pipe = (from: Socket, to: Socket): void => {
    from.on("data", (bytes) => {
      if (!to.destroyed) to.write(bytes);
    });
    from.on("close", () => to.destroy());
    if (isFrozen) from.pause();
  };
  const server = createServer((socket) => {
    accepted++;
    keep(socket, near);
    if (target === undefined) {
      socket.resume();
      return;
    }
    const [host, port] = target.split(":");
    const far = connect(Number(port), host);
    keep(far, new Set());
    pipe(socket, far);
    pipe(far, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      isFrozen = true;
      for (const socket of all) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of all) socket.resume();
    },
    cut: () => {
      for (const socket of all) socket.destroy();
    },
    connections: () => near.size,
    accepted: () => accepted,
    close: () => {
      server.close();
      for (const socket of all) socket.destroy();
    },
  };
}
