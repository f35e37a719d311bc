/**
 * One server, put together: the only place where adapters are made and joined. Storage first, so
 * that nothing listens before the log is verified; then the peer port, the groups, the public port
 * and the admin port. Stopping goes the other way.
 */

import { isReady } from "../admin/checks.ts";
import { type AdminServer, startAdminServer } from "../admin/server.ts";
import { defined, type InvariantError } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import { createPeerNetwork, type PeerNetwork } from "../net/peer-network.ts";
import type { ForwardAnswer, Logger } from "../replica/ports.ts";
import { startTicker } from "../replica/ticker.ts";
import { publicServices } from "../wire/methods.ts";
import { type AdminFacts, adminPort, type AdminPortOptions } from "./admin-port.ts";
import { type ServerConfig, splitAddress } from "./config/schema.ts";
import { type OpenedDataStore, openDataStore } from "./data-store.ts";
import { type GrpcServer, startGrpcServer } from "./grpc/grpc-server.ts";
import { meteredStore } from "./metered-store.ts";
import type { RunningServer } from "./running-server.ts";
import { createServerCore, type ServerCore } from "./server-core.ts";
import { clusterStatus } from "./services/cluster.ts";
import { HealthService } from "./services/health.ts";
import { Drain } from "./services/news.ts";
import { systemClock, systemTimers } from "./system.ts";
import { productVersion } from "./version.ts";

/** What calls under way get when the server stops; the whole stop takes at most 3 s. */
const STOP_GRACE_MS = 1_500;
/** What a snapshot that is being written or received gets; what is left of it does no harm. */
const FILES_GRACE_MS = 1_000;

/** Opens everything, or nothing: what was opened is closed again when a later part fails. */
export async function startServer(config: ServerConfig, logger: Logger): Promise<RunningServer> {
  const server = new ServerProcess(config, logger);
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class ServerProcess implements RunningServer {
  readonly failed: Promise<Error>;
  readonly #config: ServerConfig;
  readonly #logger: Logger;
  readonly #drain = new AbortController();
  readonly #reachable = new Set<ServerId>();
  readonly #closers: (() => Promise<void> | void)[] = [];
  readonly #facts: AdminFacts = { fatalError: undefined };
  #syncHistogram: AdminPortOptions["syncHistogram"] = () => undefined;
  #fail: (error: Error) => void = () => {};
  #stopping: Promise<void> | undefined;
  #core: ServerCore | undefined;
  #peers: PeerNetwork | undefined;
  #grpc: GrpcServer | undefined;
  #admin: AdminServer | undefined;

  constructor(config: ServerConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.failed = new Promise((resolve) => {
      this.#fail = (error) => {
        this.#facts.fatalError ??= error.message;
        resolve(error);
      };
    });
  }

  get addresses(): RunningServer["addresses"] {
    const grpc = defined(this.#grpc, "the server was started").address;
    const peer = defined(this.#peers, "the server was started").address;
    const http = defined(this.#admin, "the server was started").address;
    return { grpc, peer, http };
  }

  async start(): Promise<void> {
    const opened = await openDataStore(this.#config, this.#logger, (error) => this.#fail(error));
    this.#closers.push(() => opened.store.close());
    this.#peers = await this.#startPeers(opened);
    this.#core = this.#startCore(opened, this.#peers);
    const health = this.#healthOf(this.#core);
    this.#startTicking(this.#core, health);
    this.#grpc = await this.#startGrpc(this.#core, health);
    this.#admin = await this.#startAdmin(this.#core);
    this.#logger.info("serverStarted", this.addresses);
  }

  status(): ReturnType<RunningServer["status"]> {
    return this.#adminPort(defined(this.#core, "the server was started")).status();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#drain.abort();
    for (const close of this.#closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        this.#logger.warn("closeFailed", { error });
      }
    }
  }

  async #startPeers({ identity, snapshots }: OpenedDataStore): Promise<PeerNetwork> {
    const { cluster, server, listen, storage } = this.#config;
    const peers = await createPeerNetwork({
      self: server.id as ServerId,
      clusterId: cluster.id,
      storeUuid: identity.storeUuid,
      listen: listen.peer,
      peers: cluster.servers.map(({ id, peer }) => ({ id: id as ServerId, address: peer })),
      events: {
        onEnvelope: (from, envelope) => this.#core?.host.onEnvelope(from, envelope),
        onPeerReachable: (peer) => this.#reachable.add(peer),
        onPeerUnreachable: (peer) => {
          this.#reachable.delete(peer);
          this.#core?.host.onPeerUnreachable(peer);
        },
      },
      onForward: (_from, call) => this.#core?.onForward(call) ?? Promise.resolve(STARTING),
      snapshots,
      snapshotBytesPerSecond: storage.snapshotBytesPerSecond,
      logger: this.#logger,
      clock: systemClock,
      timers: systemTimers,
    });
    this.#closers.push(() => peers.close());
    return peers;
  }

  #startCore(opened: OpenedDataStore, peers: PeerNetwork): ServerCore {
    const { transport, forwarder, snapshotSource } = peers;
    const { store, syncHistogram } = meteredStore(opened.store, systemClock);
    this.#syncHistogram = syncHistogram;
    const core = createServerCore({
      config: this.#config,
      loaded: opened.replicas,
      store,
      snapshotStore: opened.snapshots,
      snapshotSource,
      transport,
      forwarder,
      clock: systemClock,
      timers: systemTimers,
      logger: this.#logger,
      seed: Math.floor(Math.random() * 2 ** 32),
      onHalt: (reason) => this.#fail(new Error(reason)),
      productVersion: productVersion(),
      isReachable: (server) => this.#reachable.has(server),
      drain: this.#drain.signal,
    });
    this.#closers.push(async () => {
      core.host.stop();
      await Promise.race([core.host.settled(), delayMs(FILES_GRACE_MS)]);
    });
    return core;
  }

  /** By the checks and the facts of /readyz. */
  #healthOf(core: ServerCore): HealthService {
    const port = this.#adminPort(core);
    return new HealthService({
      services: publicServices(),
      isReady: () => isReady(port.health()),
      drain: new Drain(this.#drain.signal),
    });
  }

  #startTicking(core: ServerCore, health: HealthService): void {
    const { tickMs } = this.#config.raft;
    const timing = { tickMs, clock: systemClock, timers: systemTimers };
    const onTick = (): void => {
      core.tick();
      health.refresh();
    };
    const ticker = startTicker({ ...timing, onTick });
    this.#closers.push(() => ticker.stop());
  }

  async #startGrpc({ services }: ServerCore, health: HealthService): Promise<GrpcServer> {
    const grpc = await startGrpcServer({
      services,
      health,
      listen: this.#config.listen.grpc,
      logger: this.#logger,
      onFatal: (error: InvariantError) => this.#fail(error),
    });
    this.#closers.push(() => grpc.close(STOP_GRACE_MS));
    return grpc;
  }

  async #startAdmin(core: ServerCore): Promise<AdminServer> {
    const admin = await startAdminServer({
      listen: splitAddress(this.#config.listen.http),
      port: this.#adminPort(core),
      onError: (error) => this.#logger.error("adminRequestFailed", { error }),
    });
    this.#closers.push(() => admin.close());
    return admin;
  }

  #adminPort(core: ServerCore): ReturnType<typeof adminPort> {
    return adminPort({
      core,
      facts: this.#facts,
      drain: this.#drain.signal,
      clock: systemClock,
      status: () => clusterStatus(core.groups, core.clusterFacts),
      syncHistogram: () => this.#syncHistogram(),
      snapshotSends: () => {
        const { active, sentBytes, ...results } = defined(
          this.#peers,
          "the server was started",
        ).snapshotStats();
        return { active, sentBytes, results };
      },
    });
  }
}

function delayMs(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemTimers.after(ms, resolve);
  });
}

/** Between the peer port and the groups: whoever forwards here looks for the leader again. */
const STARTING: ForwardAnswer = { kind: "failed", outcome: "notApplied", reason: "notLeader" };
