import { createPeerNetwork, type PeerNetwork } from "../../src/net/peer-network.ts";
import { volatileStanding } from "../../src/net/standing.ts";
import type { ServerId } from "../../src/base/brands.ts";
import {
  type ConformanceCluster,
  type ConformanceServer,
  recordingEvents,
  REFUSE_FORWARD,
  transportConformance,
} from "../conformance/transport.ts";
import {
  CLUSTER,
  id,
  realClock,
  realTimers,
  recordingLogger,
  until,
} from "../integration/net/support.ts";

transportConformance(startCluster);

async function startCluster(): Promise<ConformanceCluster> {
  const networks = new Map<ServerId, PeerNetwork>();
  const start = async (value: number): Promise<ConformanceServer> => {
    const self = id.server(value);
    const events = recordingEvents();
    const network = await createPeerNetwork({
      self,
      clusterId: CLUSTER,
      standing: volatileStanding(`store ${value}`),
      listen: "127.0.0.1:0",
      peers: [],
      events,
      onForward: (from, call) => server.onForward(from, call),
      snapshots: { openFile: () => Promise.resolve(undefined) },
      snapshotBytesPerSecond: 1e9,
      logger: recordingLogger(),
      clock: realClock,
      timers: realTimers,
    });
    networks.set(self, network);
    const { transport, forwarder } = network;
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
  const servers = [await start(1), await start(2), await start(3)] as const;
  const peers = [...networks].map(([self, { address }]) => ({ id: self, address }));
  // From the back, so that a server knows its callers before they call.
  for (const network of [...networks.values()].reverse()) network.setPeers(peers);
  await until("all are connected", () => servers.every(({ told }) => told.length === 2));
  return {
    servers,
    stop: async (self) => {
      await networks.get(self)?.close();
    },
    close: async () => {
      await Promise.all([...networks.values()].map((network) => network.close()));
    },
  };
}
