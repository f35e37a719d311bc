/**
 * One server, put together: the only place where adapters are made and joined. Storage first, so
 * that nothing listens before the log is verified; then the peer port, the groups, the public port
 * and the admin port. Stopping goes the other way.
 *
 * A server whose store cannot be trusted starts as well, to say so, and takes no part (law 30).
 */

import { isReady } from "../admin/checks.ts";
import { type AdminServer, startAdminServer } from "../admin/server.ts";
import { defined, type InvariantError } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import { createPeerNetwork, type PeerNetwork } from "../net/peer-network.ts";
import type { Standing } from "../net/standing.ts";
import { serverOf } from "../replica/host.ts";
import type { Logger, SnapshotStore } from "../replica/ports.ts";
import { startTicker } from "../replica/ticker.ts";
import { writeDisowned } from "../storage/data-dir.ts";
import { isDistrust, StorageError } from "../storage/errors.ts";
import { NodeFileStore } from "../storage/node-files.ts";
import { publicServices } from "../wire/methods.ts";
import type { AdminFacts } from "./admin-port.ts";
import { type ServerConfig, splitAddress } from "./config/schema.ts";
import { openDataStore, type OpenedDataStore } from "./data-store.ts";
import { type GrpcServer, startGrpcServer } from "./grpc/grpc-server.ts";
import { meteredStore } from "./metered-store.ts";
import { Participation } from "./participation.ts";
import type { RunningServer } from "./running-server.ts";
import { clusterFactsOf, createServerCore } from "./server-core.ts";
import { HealthService } from "./services/health.ts";
import { Drain } from "./services/news.ts";
import { NOT_LEADER, type Serving, servingGroups, servingNothing, standingOf } from "./serving.ts";
import { systemClock, systemTimers, within } from "./system.ts";
import { productVersion } from "./version.ts";

/**
 * What moving leadership to others may take; it takes some round trips and writes. This and the two
 * graces stay below what a process gets for its stop (cli/serve-process.ts).
 */
const HAND_OVER_MS = 200;
/** What calls under way get when the server stops. */
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
  #fail: (error: Error) => void = () => {};
  #stopping: Promise<void> | undefined;
  #serving: Serving | undefined;
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
    const store = await this.#openStore();
    const participation = this.#participationOf(store);
    const peers = await this.#startPeers(
      standingOf(store, participation),
      store instanceof StorageError ? NO_SNAPSHOTS : store.snapshots,
    );
    const serving =
      store instanceof StorageError
        ? this.#serveNothing(participation)
        : this.#serveGroups(store, peers, participation);
    // Peers may have spoken before there was something to stop.
    if (participation.distrust !== undefined) this.#stopTakingPart();
    const health = this.#healthOf(serving);
    this.#startTicking(serving, health);
    this.#grpc = await this.#startGrpc(serving, health);
    this.#admin = await this.#startAdmin(serving);
    this.#logger.info("serverStarted", this.addresses);
  }

  status(): ReturnType<RunningServer["status"]> {
    return defined(this.#serving, "the server was started").admin.status();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#drain.abort();
    await this.#handOver();
    for (const close of this.#closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        this.#logger.warn("closeFailed", { error });
      }
    }
  }

  /** Others lead before this server is gone: clients wait for no election. */
  async #handOver(): Promise<void> {
    await within(HAND_OVER_MS, this.#serving?.handOver() ?? Promise.resolve());
  }

  /** The store, or why it cannot be trusted. */
  async #openStore(): Promise<OpenedDataStore | StorageError> {
    try {
      const onFatal = (error: StorageError): void => this.#fail(error);
      const opened = await openDataStore(this.#config, this.#logger, onFatal);
      this.#closers.push(() => opened.store.close());
      return opened;
    } catch (error) {
      if (error instanceof StorageError && isDistrust(error)) return error;
      throw error;
    }
  }

  #participationOf(store: OpenedDataStore | StorageError): Participation {
    const logger = this.#logger;
    if (store instanceof StorageError) return Participation.none(store, logger);
    const { configuration } = defined(store.replicas[0], "a store has a group");
    return new Participation({
      others: configuration.voters.map(serverOf).filter((id) => id !== this.#config.server.id),
      isAdmitted: store.isAdmitted,
      admit: () => store.memory.admit(),
      logger,
      onDistrust: (error) => {
        this.#noteDisowned(error);
        this.#stopTakingPart();
      },
    });
  }

  async #startPeers(
    standing: Standing,
    snapshots: Pick<SnapshotStore, "openFile">,
  ): Promise<PeerNetwork> {
    const { cluster, server, listen, storage } = this.#config;
    const peers = await createPeerNetwork({
      self: server.id as ServerId,
      clusterId: cluster.id,
      standing,
      listen: listen.peer,
      peers: cluster.servers.map(({ id, peer }) => ({ id: id as ServerId, address: peer })),
      events: {
        onEnvelope: (from, envelope) => this.#serving?.onEnvelope(from, envelope),
        onPeerReachable: (peer) => this.#reachable.add(peer),
        onPeerUnreachable: (peer) => {
          this.#reachable.delete(peer);
          this.#serving?.onPeerUnreachable(peer);
        },
      },
      onForward: (_from, call) => this.#serving?.onForward(call) ?? Promise.resolve(NOT_LEADER),
      snapshots,
      snapshotBytesPerSecond: storage.snapshotBytesPerSecond,
      logger: this.#logger,
      clock: systemClock,
      timers: systemTimers,
    });
    this.#closers.push(() => peers.close());
    this.#peers = peers;
    return peers;
  }

  #serveGroups(opened: OpenedDataStore, peers: PeerNetwork, participation: Participation): Serving {
    const { transport, forwarder, snapshotSource } = peers;
    const { store, syncHistogram } = meteredStore(opened.store, systemClock);
    const core = createServerCore({
      ...this.#common(participation),
      loaded: opened.replicas,
      store,
      snapshotStore: opened.snapshots,
      snapshotSource,
      transport,
      forwarder,
      logger: this.#logger,
      seed: Math.floor(Math.random() * 2 ** 32),
      onHalt: (reason) => this.#fail(new Error(reason)),
      drain: this.#drain.signal,
    });
    this.#closers.push(async () => {
      core.host.stop();
      await within(FILES_GRACE_MS, core.host.settled());
    });
    return (this.#serving = servingGroups(core, {
      facts: this.#facts,
      drain: this.#drain.signal,
      clock: systemClock,
      syncHistogram,
      snapshotSends: () => {
        const { active, sentBytes, ...results } = peers.snapshotStats();
        return { active, sentBytes, results };
      },
    }));
  }

  #serveNothing(participation: Participation): Serving {
    const { cluster, server } = this.#config;
    const facts = clusterFactsOf(this.#common(participation));
    const options = { facts: this.#facts, drain: this.#drain.signal };
    return (this.#serving = servingNothing(cluster.id, server.id as ServerId, facts, options));
  }

  #common(participation: Participation) {
    return {
      config: this.#config,
      clock: systemClock,
      timers: systemTimers,
      productVersion: productVersion(),
      isReachable: (server: ServerId) => this.#reachable.has(server),
      abstention: () => participation.abstention,
    };
  }

  /** Others hold proof against this store, and may forget it: its directory keeps it in mind. */
  #noteDisowned(error: StorageError): void {
    const files = new NodeFileStore(this.#config.server.dataDir);
    writeDisowned(files, error.message).catch((failure: unknown) => {
      this.#logger.error("disownedNotNoted", { error: failure });
    });
  }

  #stopTakingPart(): void {
    this.#serving?.stop();
    this.#peers?.abstain();
  }

  /** By the checks and the facts of /readyz. */
  #healthOf({ admin }: Serving): HealthService {
    return new HealthService({
      services: publicServices(),
      isReady: () => isReady(admin.health()),
      drain: new Drain(this.#drain.signal),
    });
  }

  #startTicking(serving: Serving, health: HealthService): void {
    const { tickMs } = this.#config.raft;
    const timing = { tickMs, clock: systemClock, timers: systemTimers };
    const onTick = (): void => {
      serving.tick();
      health.refresh();
    };
    const ticker = startTicker({ ...timing, onTick });
    this.#closers.push(() => ticker.stop());
  }

  async #startGrpc({ services }: Serving, health: HealthService): Promise<GrpcServer> {
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

  async #startAdmin(serving: Serving): Promise<AdminServer> {
    const admin = await startAdminServer({
      listen: splitAddress(this.#config.listen.http),
      port: serving.admin,
      onError: (error) => this.#logger.error("adminRequestFailed", { error }),
    });
    this.#closers.push(() => admin.close());
    return admin;
  }
}

/** What a server gives to others whose own store cannot be trusted. */
const NO_SNAPSHOTS: Pick<SnapshotStore, "openFile"> = {
  openFile: () => Promise.resolve(undefined),
};
