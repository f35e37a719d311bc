/**
 * A cluster of real server processes on loopback, for integration tests: started from the built
 * binary, killed with SIGKILL, started again on the same data.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const BINARY = path.join(ROOT, "src/cli/cadastre.cjs");
const READY_TIMEOUT_MS = 30_000;

export interface ServerAddresses {
  readonly id: number;
  readonly grpc: string;
  readonly peer: string;
  readonly http: string;
}

export const CLUSTER_ID = "0123456789abcdef0123456789abcdef";

type ExtraConfig = Readonly<Record<string, unknown>>;

export class RealCluster {
  readonly dir: string;
  readonly servers: readonly ServerAddresses[];
  /** Everything the servers have printed, for failures. */
  readonly output: string[] = [];
  readonly #config: ExtraConfig;
  readonly #processes = new Map<number, ChildProcess>();

  private constructor(dir: string, servers: readonly ServerAddresses[], config: ExtraConfig) {
    this.dir = dir;
    this.servers = servers;
    this.#config = config;
  }

  /** `config` is added to every server's. */
  static async start(count = 3, config: ExtraConfig = {}): Promise<RealCluster> {
    const cluster = await RealCluster.prepare(count, config);
    await Promise.all(cluster.servers.map(({ id }) => cluster.startServer(id)));
    await cluster.waitReady();
    return cluster;
  }

  /** Servers of which none was started yet. */
  static async prepare(count: number, config: ExtraConfig = {}): Promise<RealCluster> {
    const dir = await mkdtemp(path.join(tmpdir(), "cadastre-test-"));
    const ports = await freePorts(count * 3);
    const servers = Array.from({ length: count }, (_, at) => ({
      id: at + 1,
      grpc: `127.0.0.1:${ports[at * 3]}`,
      peer: `127.0.0.1:${ports[at * 3 + 1]}`,
      http: `127.0.0.1:${ports[at * 3 + 2]}`,
    }));
    return new RealCluster(dir, servers, config);
  }

  get endpoints(): string[] {
    return this.servers.map(({ grpc }) => grpc);
  }

  dataDir(id: number): string {
    return path.join(this.dir, `s${id}`);
  }

  async startServer(id: number): Promise<void> {
    const config = {
      server: { id, dataDir: this.dataDir(id) },
      cluster: { name: "test", id: CLUSTER_ID, servers: this.servers },
      log: { level: "info", format: "pretty" },
      ...this.#config,
    };
    const file = path.join(this.dir, `s${id}.yaml`);
    // JSON is YAML, too.
    await writeFile(file, JSON.stringify(config));
    const child = spawn(process.execPath, [BINARY, "serve", "--config", file], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (chunk: Buffer) => this.output.push(chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => this.output.push(chunk.toString()));
    this.#processes.set(id, child);
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(id: number): Promise<void> {
    await end(this.#processes.get(id), "SIGKILL");
    this.#processes.delete(id);
  }

  /** SIGTERM; resolves when the process has ended, with its exit code. */
  async terminate(id: number): Promise<number | null> {
    const child = this.#processes.get(id);
    await end(child, "SIGTERM");
    this.#processes.delete(id);
    return child?.exitCode ?? null;
  }

  /** The value of one series of /metrics, labels included in its name. */
  async metric(id: number, series: string): Promise<number | undefined> {
    const text = await (await this.get(id, "/metrics"))?.text();
    const line = text?.split("\n").find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  signal(id: number, signal: NodeJS.Signals): void {
    this.#processes.get(id)?.kill(signal);
  }

  pid(id: number): number {
    return this.#processes.get(id)?.pid ?? 0;
  }

  isRunning(id: number): boolean {
    const child = this.#processes.get(id);
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async waitReady(ids: readonly number[] = this.servers.map(({ id }) => id)): Promise<void> {
    for (const id of ids) {
      await until(async () => {
        if (!this.isRunning(id)) throw new Error(`server ${id} ended:\n${this.output.join("")}`);
        return (await this.get(id, "/readyz"))?.ok === true;
      }, READY_TIMEOUT_MS);
    }
  }

  /** The server that leads a group, by the word of any server that answers. */
  async leaderOf(group: number): Promise<number | undefined> {
    for (const { id } of this.servers) {
      if (!this.isRunning(id)) continue;
      const response = await this.get(id, "/v1/status");
      if (response?.ok !== true) continue;
      const status = (await response.json()) as {
        groups: { group: number; leaderServerId: number }[];
      };
      const leader = status.groups.find((one) => one.group === group)?.leaderServerId ?? 0;
      if (leader !== 0 && this.isRunning(leader)) return leader;
    }
    return undefined;
  }

  async get(id: number, url: string): Promise<Response | undefined> {
    const address = this.servers.find((server) => server.id === id)?.http;
    try {
      return await fetch(`http://${address}${url}`, { signal: AbortSignal.timeout(2_000) });
    } catch {
      return undefined;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((child) => end(child, "SIGKILL")));
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** Waits for a condition, looking every 20 ms. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  timeoutMs = 20_000,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`not so after ${timeoutMs} ms`);
    await delay(20);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Ports that are free now, outside the range that outgoing connections are given. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  child.kill(signal);
  // A stopped process does not act on anything but this.
  if (signal === "SIGKILL") child.kill("SIGCONT");
  await exited;
}
