// The running development cluster: its servers as children, who of them is up, and what
// cluster.json says about it. Signals, folders and words around it are run-dev's.
import type { ClusterServerEntry } from "./cluster-file.ts";
import { ChildServer, type ServerCommand } from "./child-server.ts";
import type { DevServerAddresses } from "./ports.ts";
import { CliError } from "../failure.ts";
import { httpCall } from "../http-get.ts";
import type { Voice } from "./voice.ts";

export interface LauncherOptions {
  readonly command: ServerCommand;
  readonly servers: readonly (DevServerAddresses & { readonly configFile: string })[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly voice: Voice;
  /** The command line that starts a server again. */
  restartCommand(id: number): string;
  /** The set of processes has changed after the cluster was ready. */
  onChanged(): void;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 100;
const POLL_TIMEOUT_MS = 2_000;
/** A start that is silent for longer looks like a hang. */
const STILL_WAITING_INTERVAL_MS = 5_000;

export class Launcher {
  readonly #options: LauncherOptions;
  readonly #children = new Map<number, ChildServer>();
  /** Ends that we ask for ourselves are no news. */
  readonly #expectedToEnd = new Set<ChildServer>();
  /** One restart at a time per server. */
  readonly #restarting = new Set<number>();
  #isStopping = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** Starts all servers; resolves when all are ready, throws when one ends before. */
  async start(): Promise<void> {
    for (const { id } of this.#options.servers) this.#spawn(id);
    await Promise.all(this.#options.servers.map(({ id }) => this.#waitReady(id)));
  }

  entries(): readonly ClusterServerEntry[] {
    return this.#options.servers.map(({ id, grpc, peer, http }) => {
      const child = this.#children.get(id);
      const { pid, startMark } = child?.process ?? { pid: 0, startMark: "" };
      const ended = child?.endedHow;
      return { id, grpc, peer, http, pid, startMark, ...(ended === undefined ? {} : { ended }) };
    });
  }

  /** Ends the server if it runs, starts it again and waits until it is ready. Answers its pid. */
  async restart(id: number): Promise<number> {
    this.#addressesOf(id);
    if (this.#isStopping) throw new CliError({ message: "the cluster is stopping" });
    if (this.#restarting.has(id)) {
      throw new CliError({ message: `server ${id} is being restarted already` });
    }
    this.#restarting.add(id);
    try {
      const before = this.#children.get(id);
      if (before !== undefined && before.endedHow === undefined) {
        this.#expectedToEnd.add(before);
        await before.stop();
      }
      if (this.#isStopping) throw new CliError({ message: "the cluster is stopping" });
      const child = this.#spawn(id);
      this.#options.onChanged();
      await this.#waitReady(id);
      return child.process.pid;
    } finally {
      this.#restarting.delete(id);
    }
  }

  /** Ends all servers; those that do not stop in time are killed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const children = [...this.#children.values()];
    for (const child of children) this.#expectedToEnd.add(child);
    const ends = await Promise.all(children.map((child) => child.stop()));
    children.forEach(({ id }, index) => {
      if (ends[index] !== "killed") return;
      this.#options.voice.say("serverKilled", `server ${id} did not stop in time and was killed`, {
        id,
      });
    });
  }

  /** At once. */
  kill(): void {
    this.#isStopping = true;
    for (const child of this.#children.values()) child.kill();
  }

  #spawn(id: number): ChildServer {
    const { command, env, voice } = this.#options;
    const child: ChildServer = new ChildServer({
      id,
      command,
      configFile: this.#addressesOf(id).configFile,
      env,
      events: {
        onLine: (line) => voice.pass(line),
        onErrorLine: (line) => voice.say("serverStderr", `s${id} says: ${line}`, { id, line }),
        onEnded: (ended) => this.#onEnded(id, ended),
      },
    });
    this.#children.set(id, child);
    voice.say("serverStarted", `started server ${id} (pid ${child.process.pid})`, {
      id,
      pid: child.process.pid,
    });
    return child;
  }

  #onEnded(id: number, ended: string): void {
    const child = this.#children.get(id);
    if (child !== undefined && !this.#expectedToEnd.has(child) && !this.#isStopping) {
      const how = `\`${this.#options.restartCommand(id)}\` starts it again`;
      const words = `server ${id} ended (${ended}); ${how}`;
      this.#options.voice.say("serverEnded", words, { id, ended, pid: child.process.pid });
    }
    this.#options.onChanged();
  }

  async #waitReady(id: number): Promise<void> {
    const { http } = this.#addressesOf(id);
    const startedAtMs = performance.now();
    let saidAtMs = startedAtMs;
    for (;;) {
      const child = this.#children.get(id);
      if (child?.endedHow !== undefined) {
        const why = child.lastErrorLine ?? child.endedHow;
        throw new CliError({
          message: `server ${id} ended while starting: ${why.replace(/^cadastre: /, "")}`,
        });
      }
      if (this.#isStopping) throw new CliError({ message: "stopped while starting" });
      const problem = await readyProblem(http);
      if (problem === undefined) return;
      const nowMs = performance.now();
      if (nowMs - startedAtMs > READY_TIMEOUT_MS) {
        throw new CliError({
          message: `server ${id} was not ready within ${READY_TIMEOUT_MS / 1_000} s: ${problem}`,
          remedy: "read its log lines above",
        });
      }
      if (nowMs - saidAtMs > STILL_WAITING_INTERVAL_MS) {
        saidAtMs = nowMs;
        this.#options.voice.say("waiting", `waiting for server ${id}: ${problem}`, { id, problem });
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }

  #addressesOf(id: number): LauncherOptions["servers"][number] {
    const found = this.#options.servers.find((server) => server.id === id);
    if (found !== undefined) return found;
    const ids = this.#options.servers.map((server) => server.id).join(", ");
    throw new CliError({ message: `there is no server ${id}; there are ${ids}`, exit: 3 });
  }
}

/** Why a server is not ready, in a line; undefined when it is. */
async function readyProblem(http: string): Promise<string | undefined> {
  try {
    const answer = await httpCall({ address: http, path: "/readyz", timeoutMs: POLL_TIMEOUT_MS });
    if (answer.status === 200) return undefined;
    const failures = answer.body.split("\n").filter((line) => line.includes(" failed: "));
    return failures.join("; ") || `/readyz answers ${answer.status}`;
  } catch {
    return "it does not answer yet";
  }
}
