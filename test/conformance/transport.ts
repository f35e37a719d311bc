/**
 * What raft and its hosts rely on from any Transport and Forwarder. Messages may be lost or
 * delayed; what is delivered is what was sent, by whom it says, to whom it was sent.
 *
 * Run on net/ over gRPC (test/net/conformance.test.ts) and on testing/memory-transport.ts.
 */

import { afterEach, expect, test } from "vitest";
import type { LogIndex, ServerId } from "../../src/base/brands.ts";
import type { ForwardAnswer, ForwardCall, Forwarder, Transport } from "../../src/replica/ports.ts";
import type { TransportEvents } from "../../src/replica/ports.ts";
import {
  append,
  heartbeat,
  id,
  NOT_LEADER,
  type TestServer,
  until,
} from "../integration/net/support.ts";

export interface ConformanceServer {
  readonly self: ServerId;
  readonly transport: Transport;
  readonly forwarder: Forwarder;
  readonly received: TestServer["received"];
  readonly told: readonly string[];
  /** Answers forwarded commands; may be replaced. */
  onForward: (from: ServerId, call: ForwardCall) => Promise<ForwardAnswer>;
}

/** Servers 1, 2 and 3 that are all connected to each other. */
export interface ConformanceCluster {
  readonly servers: readonly [ConformanceServer, ConformanceServer, ConformanceServer];
  /** Stops a server as a crash would. */
  readonly stop: (self: ServerId) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Events that write down what they are told. */
export function recordingEvents(): TransportEvents & Pick<TestServer, "received" | "told"> {
  const received: TestServer["received"] = [];
  const told: string[] = [];
  return {
    received,
    told,
    onEnvelope: (from, envelope) => received.push({ from, envelope }),
    onPeerReachable: (peer) => told.push(`reachable ${peer}`),
    onPeerUnreachable: (peer) => told.push(`unreachable ${peer}`),
  };
}

export function transportConformance(start: () => Promise<ConformanceCluster>): void {
  let cluster: ConformanceCluster | undefined;

  afterEach(async () => {
    await cluster?.close();
    cluster = undefined;
  });

  async function started(): Promise<ConformanceCluster> {
    cluster = await start();
    return cluster;
  }

  test("a message arrives as it was sent, at its receiver only, with its sender's id", async () => {
    const { servers } = await started();
    for (const from of servers) {
      for (const to of servers) {
        if (from === to) continue;
        from.transport.send(to.self, append(from.self * 10 + to.self, [300, 0, 5]));
      }
    }
    await until("all arrive", () => servers.every(({ received }) => received.length === 2));
    for (const to of servers) {
      const others = servers.filter((server) => server !== to);
      const expected = others.map((from) => ({
        from: from.self,
        envelope: append(from.self * 10 + to.self, [300, 0, 5]),
      }));
      expect([...to.received].sort((a, b) => a.from - b.from)).toEqual(expected);
    }
  });

  test("nothing is delivered inside the call that sends it", async () => {
    const { servers } = await started();
    const [one, two] = servers;
    one.transport.send(two.self, heartbeat(1));
    expect(two.received).toEqual([]);
    await until("it arrives", () => two.received.length === 1);
  });

  test("small messages of one sender arrive in order on a whole link", async () => {
    const { servers } = await started();
    const [one, two] = servers;
    for (let round = 1; round <= 500; round++) one.transport.send(two.self, heartbeat(round));
    await until("all arrive", () => two.received.length === 500);
    const rounds = two.received.map(({ envelope: { message } }) =>
      message.kind === "heartbeat" ? message.round : 0,
    );
    expect(rounds).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  });

  test("what is sent to an unknown server disappears", async () => {
    const { servers } = await started();
    const [one, two, three] = servers;
    one.transport.send(id.server(99), heartbeat(1));
    one.transport.send(two.self, heartbeat(2));
    await until("the other arrives", () => two.received.length === 1);
    expect(three.received).toEqual([]);
  });

  test("a stopped peer is reported once, the others are untouched", async () => {
    const { servers, stop } = await started();
    const [one, two, three] = servers;
    await stop(two.self);
    await until("both notice", () =>
      [one, three].every(({ told }) => told.at(-1) === `unreachable ${two.self}`),
    );
    for (let round = 1; round <= 20; round++) one.transport.send(two.self, heartbeat(round));
    one.transport.send(three.self, heartbeat(1));
    await until("the third still hears", () => three.received.length === 1);
    expect(two.received).toEqual([]);
    expect(new Set(one.told)).toEqual(new Set(["reachable 2", "reachable 3", "unreachable 2"]));
    expect(one.told).toHaveLength(3);
  });

  test("a forwarded command is answered by the server that it was sent to", async () => {
    const { servers } = await started();
    const [one, two] = servers;
    two.onForward = (from, { command }) =>
      Promise.resolve({
        kind: "applied",
        index: from as number as LogIndex,
        result: command.slice().reverse(),
      });
    const call = { group: id.group(1), command: new Uint8Array([1, 2]), timeoutMs: 5_000 };
    const applied = { kind: "applied", index: 1, result: new Uint8Array([2, 1]) };
    expect(await one.forwarder.forward(two.self, call)).toEqual(applied);
  });

  test("a command that is not answered in time has an unknown outcome", async () => {
    const { servers } = await started();
    const [one, two] = servers;
    two.onForward = () => new Promise(() => {});
    const call = { group: id.group(1), command: new Uint8Array(1), timeoutMs: 50 };
    const unknown = { kind: "failed", outcome: "unknown", reason: "deadlineExceeded" };
    expect(await one.forwarder.forward(two.self, call)).toEqual(unknown);
  });

  test("a command to a stopped or unknown server is certainly without effect", async () => {
    const { servers, stop } = await started();
    const [one, two] = servers;
    await stop(two.self);
    await until("it is noticed", () => one.told.at(-1) === "unreachable 2");
    const call = { group: id.group(1), command: new Uint8Array(1), timeoutMs: 1_000 };
    for (const to of [two.self, id.server(99)]) {
      expect(await one.forwarder.forward(to, call)).toMatchObject({ outcome: "notApplied" });
    }
  });
}

export const REFUSE_FORWARD: ConformanceServer["onForward"] = () => Promise.resolve(NOT_LEADER);
