import { expect, test } from "vitest";
import { MemoryNetwork } from "../../src/testing/memory-transport.ts";
import {
  type ConformanceCluster,
  type ConformanceServer,
  recordingEvents,
  REFUSE_FORWARD,
  transportConformance,
} from "../conformance/transport.ts";
import { heartbeat, id, NOT_LEADER, realTimers, until } from "../integration/net/support.ts";

transportConformance(async () => {
  const { cluster } = await startCluster();
  return cluster;
});

async function startCluster(): Promise<{ network: MemoryNetwork; cluster: ConformanceCluster }> {
  const network = new MemoryNetwork(realTimers);
  const start = (value: number): ConformanceServer => {
    const self = id.server(value);
    const events = recordingEvents();
    const { transport, forwarder } = network.join({
      self,
      events,
      onForward: (from, call) => server.onForward(from, call),
    });
    const { received, told } = events;
    const server: ConformanceServer = {
      self,
      transport,
      forwarder,
      received,
      told,
      onForward: REFUSE_FORWARD,
    };
    return server;
  };
  const servers = [start(1), start(2), start(3)] as const;
  await until("all are connected", () => servers.every(({ told }) => told.length === 2));
  const stop = (self: number): Promise<void> => Promise.resolve(network.leave(id.server(self)));
  const close = (): Promise<void> => Promise.resolve();
  return { network, cluster: { servers, stop, close } };
}

test("a cut link carries nothing, what was under way included, until it is healed", async () => {
  const { network, cluster } = await startCluster();
  const [one, two, three] = cluster.servers;
  one.transport.send(two.self, heartbeat(1));
  network.cut(one.self, two.self);
  one.transport.send(two.self, heartbeat(2));
  one.transport.send(three.self, heartbeat(3));
  await until("both notice", () =>
    [one, two].every(({ told }) => told.at(-1)?.startsWith("unreachable") === true),
  );
  network.heal(one.self, two.self);
  await until("both notice", () =>
    [one, two].every(({ told }) => told.at(-1)?.startsWith("reachable") === true),
  );
  one.transport.send(two.self, heartbeat(4));
  await until("it arrives", () => two.received.length === 1 && three.received.length === 1);
  expect(two.received[0]?.envelope).toEqual(heartbeat(4));
});

test("a forwarded command whose link is cut meanwhile has an unknown outcome", async () => {
  const { network, cluster } = await startCluster();
  const [one, two] = cluster.servers;
  two.onForward = async () => {
    network.cut(one.self, two.self);
    return NOT_LEADER;
  };
  const call = { group: id.group(1), command: new Uint8Array(1), timeoutMs: 1_000 };
  const unknown = { kind: "failed", outcome: "unknown", reason: "unreachable" };
  expect(await one.forwarder.forward(two.self, call)).toEqual(unknown);
});
