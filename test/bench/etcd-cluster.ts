/**
 * The peer: three members on loopback, with data in a folder of ours and synced writes, as they are
 * by default. Only the compaction of old revisions is left out, as it is on the other side.
 */

import path from "node:path";
import type { Client } from "@grpc/grpc-js";
import type { Cleanups } from "./cleanups.ts";
import { connect } from "./connections.ts";
import { callEtcd, MAINTENANCE } from "./etcd-api.ts";
import { freeBasePort } from "./ports.ts";
import {
  eventually,
  startProcess,
  type Started,
  temporaryFolder,
  versionLine,
} from "./processes.ts";

const MEMBERS = 3;
const READY_TIMEOUT_MS = 30_000;
const STATUS_TIMEOUT_MS = 1_000;
const PORTS_PER_MEMBER = 2;
/** 8 GiB, so that many rounds of writes do not run into the default of 2. */
const QUOTA_BYTES = 8 * 1024 ** 3;

export interface EtcdMember {
  readonly name: string;
  readonly address: string;
  readonly args: readonly string[];
  readonly client: Client;
  process: Started;
}

/** Undefined: it is not installed. */
export function etcdVersion(): string | undefined {
  return versionLine("etcd", ["--version"]);
}

export class EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly #cleanups: Cleanups;

  private constructor(members: readonly EtcdMember[], cleanups: Cleanups) {
    this.members = members;
    this.#cleanups = cleanups;
  }

  static async start(cleanups: Cleanups): Promise<EtcdCluster> {
    const folder = temporaryFolder("etcd", cleanups);
    const offsets = Array.from({ length: MEMBERS * PORTS_PER_MEMBER }, (_, at) => at);
    const basePort = await freeBasePort(offsets);
    const members = Array.from({ length: MEMBERS }, (_, at) => {
      const args = memberArgs(folder, basePort, at);
      const address = clientAddress(basePort, at);
      const process = startProcess({ file: "etcd", args, cleanups });
      return { name: `m${at}`, address, args, client: connect(address), process };
    });
    cleanups.add(() => {
      for (const { client } of members) client.close();
    });
    const cluster = new EtcdCluster(members, cleanups);
    await cluster.waitReady();
    return cluster;
  }

  get addresses(): readonly string[] {
    return this.members.map(({ address }) => address);
  }

  get pids(): readonly number[] {
    return this.members.map(({ process }) => process.pid);
  }

  /** The member that leads, by its own word. */
  async leader(): Promise<EtcdMember> {
    return eventually("etcd has a leader", READY_TIMEOUT_MS, async () => {
      const heard = await Promise.all(this.members.map((member) => statusOf(member)));
      return this.members.find((_, at) => {
        const status = heard[at];
        return status !== undefined && status.header.memberId === status.leader;
      });
    });
  }

  /** Every member answers and knows a leader. */
  async waitReady(): Promise<void> {
    for (const member of this.members) {
      await eventually(`etcd member ${member.name} is ready`, READY_TIMEOUT_MS, async () => {
        if (!member.process.isRunning()) {
          throw new Error(`etcd member ${member.name} ended: ${member.process.lastWords()}`);
        }
        const status = await statusOf(member);
        return status === undefined || status.leader === "0" ? undefined : true;
      });
    }
  }

  /** Starts a member again that has ended, and waits until all are ready. */
  async restart(member: EtcdMember): Promise<void> {
    await member.process.stop();
    member.process = startProcess({ file: "etcd", args: member.args, cleanups: this.#cleanups });
    await this.waitReady();
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process.stop()));
  }
}

function clientAddress(basePort: number, at: number): string {
  return `127.0.0.1:${basePort + at * PORTS_PER_MEMBER}`;
}

function peerUrl(basePort: number, at: number): string {
  return `http://127.0.0.1:${basePort + at * PORTS_PER_MEMBER + 1}`;
}

function memberArgs(folder: string, basePort: number, at: number): string[] {
  const clientUrl = `http://${clientAddress(basePort, at)}`;
  const cluster = Array.from({ length: MEMBERS }, (_, one) => `m${one}=${peerUrl(basePort, one)}`);
  const flags = {
    name: `m${at}`,
    "data-dir": path.join(folder, `m${at}`),
    "listen-client-urls": clientUrl,
    "advertise-client-urls": clientUrl,
    "listen-peer-urls": peerUrl(basePort, at),
    "initial-advertise-peer-urls": peerUrl(basePort, at),
    "initial-cluster": cluster.join(","),
    "initial-cluster-state": "new",
    "quota-backend-bytes": String(QUOTA_BYTES),
  };
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

type Status = Awaited<ReturnType<typeof askStatus>>;

function askStatus({ client }: EtcdMember) {
  return callEtcd(client, MAINTENANCE.Status, {}, STATUS_TIMEOUT_MS);
}

async function statusOf(member: EtcdMember): Promise<Status | undefined> {
  try {
    return await askStatus(member);
  } catch {
    return undefined;
  }
}
