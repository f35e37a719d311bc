/**
 * The subject: three server processes by the product's own `cadastre dev`, found through its
 * cluster.json, and the public client library for everything that is not the load itself.
 */

import path from "node:path";
import { fileURLToPath } from "node:url";
import { type GroupId, ROOT_GROUP } from "../../src/base/brands.ts";
import { Prng } from "../../src/base/prng.ts";
import {
  type ClusterFile,
  type ClusterServerEntry,
  readClusterFile,
} from "../../src/cli/dev/cluster-file.ts";
import { requestRestart } from "../../src/cli/dev/control.ts";
import { Client } from "../../src/client/client.ts";
import { grpcChannel } from "../../src/client/grpc/grpc-channel.ts";
import { systemClock, systemTimers } from "../../src/server/system.ts";
import type { ClusterStatus, GroupStatus } from "../../src/wire/api.ts";
import type { Cleanups } from "./cleanups.ts";
import { freeBasePort } from "./ports.ts";
import { eventually, startProcess, temporaryFolder } from "./processes.ts";

/** The metadata shard in which all ranges of the benchmark are. */
export const SHARD: GroupId = (ROOT_GROUP + 1) as GroupId;

const BINARY = fileURLToPath(new URL("../../src/cli/cadastre.cjs", import.meta.url));
const SERVERS = 3;
/** Three ports a server, ten apart (`cadastre dev --help`). */
const PORT_OFFSETS = [0, 10, 20].flatMap((server) => [server, server + 1, server + 2]);
const READY_TIMEOUT_MS = 60_000;
const STATUS_TIMEOUT_MS = 1_000;
/** Setting up with large requests on a busy machine takes longer than a call usually may. */
const DEADLINE_MS = 30_000;

export class OurCluster {
  readonly client: Client;
  readonly #folder: string;
  readonly #cleanups: Cleanups;
  readonly #stop: () => Promise<void>;

  private constructor(folder: string, cleanups: Cleanups, stop: () => Promise<void>) {
    this.#folder = folder;
    this.#cleanups = cleanups;
    this.#stop = stop;
    this.client = this.newClient("bench-admin");
  }

  static async start(cleanups: Cleanups): Promise<OurCluster> {
    const folder = temporaryFolder("cadastre", cleanups);
    const port = await freeBasePort(PORT_OFFSETS);
    const dev = ["dev", "--data-dir", folder, "--base-port", String(port)];
    const launcher = startProcess({
      file: process.execPath,
      args: [BINARY, ...dev, "--servers", String(SERVERS)],
      cleanups,
      ipc: true,
    });
    await eventually("the cluster is ready", READY_TIMEOUT_MS, () => {
      if (!launcher.isRunning()) throw new Error(`cadastre dev ended: ${launcher.lastWords()}`);
      return readClusterFile(folder);
    });
    return new OurCluster(folder, cleanups, launcher.stop);
  }

  /** As cluster.json has them now. */
  get servers(): readonly ClusterServerEntry[] {
    return this.#file.servers;
  }

  get pids(): readonly number[] {
    return this.servers.map(({ pid }) => pid);
  }

  newClient(clientId: string): Client {
    const client = new Client({
      endpoints: this.servers.map(({ grpc }) => grpc),
      channels: grpcChannel,
      clock: systemClock,
      timers: systemTimers,
      prng: Prng.fromSeed(Math.floor(Math.random() * 2 ** 48)),
      clientId,
      defaultDeadlineMs: DEADLINE_MS,
    });
    this.#cleanups.add(() => client.close());
    return client;
  }

  /** The server that leads the shard, by its own word; with two, the one of the later term. */
  async leader(): Promise<ClusterServerEntry> {
    return eventually("the shard has a leader", READY_TIMEOUT_MS, async () => {
      const leading = (await this.#shardStatuses()).filter(({ status }) => isLeading(status));
      return leading.toSorted((a, b) => b.status.term - a.status.term)[0]?.server;
    });
  }

  /** Starts a server again that has ended, and waits until it has what the leader has. */
  async restart(id: number): Promise<void> {
    await requestRestart(this.#file, id);
    await this.waitCaughtUp();
  }

  /** Every server answers, and has applied what the leader had committed when asked first. */
  async waitCaughtUp(): Promise<void> {
    const leader = await this.leader();
    const all = await this.#shardStatuses();
    const goal = all.find(({ server }) => server.id === leader.id)?.status.commitIndex ?? 0;
    await eventually("all servers have caught up", READY_TIMEOUT_MS, async () => {
      const statuses = await this.#shardStatuses();
      const caughtUp = statuses.filter(({ status }) => status.appliedIndex >= goal);
      return caughtUp.length === SERVERS ? true : undefined;
    });
  }

  /** Entries that this server has committed so far, of each group. */
  async committedEntries(server: ClusterServerEntry): Promise<ReadonlyMap<GroupId, number>> {
    const status = await statusOf(server);
    if (status === undefined) throw new Error(`server ${server.id} does not answer`);
    return new Map(status.groups.map(({ group, commitIndex }) => [group, commitIndex]));
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.#stop();
  }

  get #file(): ClusterFile {
    const file = readClusterFile(this.#folder);
    if (file === undefined) throw new Error(`${path.join(this.#folder, "cluster.json")} is gone`);
    return file;
  }

  async #shardStatuses(): Promise<readonly ShardView[]> {
    const heard = await Promise.all(
      this.servers.map(async (server) => {
        const status = await statusOf(server);
        const shard = status?.groups.find(({ group }) => group === SHARD);
        return shard === undefined ? undefined : { server, status: shard };
      }),
    );
    return heard.filter((one) => one !== undefined);
  }
}

interface ShardView {
  readonly server: ClusterServerEntry;
  readonly status: GroupStatus;
}

function isLeading({ role }: GroupStatus): boolean {
  return role === "leader";
}

/** What one server says of itself, now and over a connection of its own. */
async function statusOf(server: ClusterServerEntry): Promise<ClusterStatus | undefined> {
  const channel = grpcChannel(server.grpc);
  try {
    const context = { timeoutMs: STATUS_TIMEOUT_MS };
    const answer = await channel.services.cluster.getStatus({}, context);
    return answer.ok ? answer.value : undefined;
  } finally {
    channel.close();
  }
}
