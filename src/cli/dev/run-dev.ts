// `cadastre dev` as a process: prepares the folder, starts the servers, tells the world through
// cluster.json, and ends everything on a signal. What fails leaves no process and no lock behind.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { SETTINGS } from "../../server/config/settings.ts";
import type { CliContext } from "../context.ts";
import { CliError } from "../failure.ts";
import { StopSignals } from "../stop-signals.ts";
import {
  readClusterFile,
  removeClusterFile,
  runningServers,
  writeClusterFile,
  type ClusterFile,
} from "./cluster-file.ts";
import type { ServerCommand } from "./child-server.ts";
import { startControl, type ControlServer } from "./control.ts";
import {
  claimFolder,
  emptyFolder,
  settleMarker,
  writeServerConfigs,
  type Marker,
} from "./folder.ts";
import { Launcher } from "./launcher.ts";
import { lockFolder } from "./lock.ts";
import { checkPortsFree, serverAddresses } from "./ports.ts";
import { processRef } from "./processes.ts";
import { commandWords, isFoundFrom, quoted, readyWords, serverCount } from "./ready-words.ts";
import { createVoice, type Voice } from "./voice.ts";

export interface DevOptions {
  readonly folder: string;
  /** Undefined: as the folder's cluster has it, else the defaults. */
  readonly basePort: number | undefined;
  readonly servers: number | undefined;
  readonly fresh: boolean;
  readonly log: "json" | "pretty";
}

const ORPHANS_TIMEOUT_MS = 5_000;
const POLL_INTERVAL_MS = 50;

/** Resolves when the cluster was stopped by a signal. */
export async function runDev(
  options: DevOptions,
  context: CliContext,
  command: ServerCommand,
): Promise<void> {
  const signals = new StopSignals();
  const folder = path.resolve(context.cwd, options.folder);
  const voice = createVoice(context.stdout, options.log);
  claimFolder(folder);
  const unlock = lockFolder(folder);
  try {
    await waitForOrphans(folder, voice);
    removeClusterFile(folder);
    if (options.fresh) {
      voice.say("emptying", `deleting the data of an earlier cluster in ${folder}`, { folder });
      emptyFolder(folder);
    }
    const marker = settleMarker(folder, options);
    await checkPortsFree(serverAddresses(marker));
    await runCluster({ options, context, command, signals, folder, voice, marker });
  } finally {
    removeClusterFile(folder);
    unlock();
    signals.dispose();
  }
}

/** Servers of a launcher that was killed end by themselves; a paused one cannot. */
async function waitForOrphans(folder: string, voice: Voice): Promise<void> {
  const file = readClusterFile(folder);
  if (file === undefined) return;
  const startedAtMs = performance.now();
  let hasSaid = false;
  for (;;) {
    const left = runningServers(file);
    if (left.length === 0) return;
    const pids = left.map(({ pid }) => pid);
    if (performance.now() - startedAtMs > ORPHANS_TIMEOUT_MS) {
      throw new CliError({
        message: `servers of an earlier run are still there (pids ${pids.join(", ")})`,
        remedy: `end them with \`kill -9 ${pids.join(" ")}\``,
      });
    }
    if (!hasSaid) voice.say("orphans", "waiting for servers of an earlier run to end", { pids });
    hasSaid = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

interface Prepared {
  readonly options: DevOptions;
  readonly context: CliContext;
  readonly command: ServerCommand;
  readonly signals: StopSignals;
  readonly folder: string;
  readonly voice: Voice;
  readonly marker: Marker;
}

async function runCluster(prepared: Prepared): Promise<void> {
  const { options, context, command, signals, folder, voice, marker } = prepared;
  const startedAtMs = performance.now();
  const count = serverCount(marker.servers);
  voice.say("starting", `starting ${count}, data in ${folder}`, { folder });
  const files = writeServerConfigs(folder, marker, options.log);
  const servers = serverAddresses(marker).map((server, index) => {
    mkdirSync(path.join(folder, `s${server.id}`), { recursive: true });
    return { ...server, configFile: files[index] ?? "" };
  });
  let publish = (): void => undefined;
  const env = withoutSettings(context.env);
  const launcher = new Launcher({
    command,
    servers,
    env,
    voice,
    restartCommand: (id) => restartCommand(id, folder, context.cwd),
    onChanged: () => publish(),
  });
  signals.onRepeated(() => launcher.kill());
  let control: ControlServer | undefined;
  try {
    const stopped = signals.first.then((signal) => ({ signal }));
    const early = await Promise.race([launcher.start(), stopped]);
    if (early === undefined) {
      const opened = await startControl((id) => launcher.restart(id));
      control = opened;
      publish = () => writeClusterFile(folder, clusterFile(launcher, marker, opened));
      publish();
      sayReady(prepared, launcher, startedAtMs);
    }
    const { signal } = await stopped;
    voice.say("stopping", `stopping (${signal})`, { signal });
  } finally {
    publish = () => undefined;
    control?.close();
    await launcher.stop();
  }
  voice.say("stopped", `stopped; the data stay in ${folder}`, { folder });
}

function clusterFile(launcher: Launcher, marker: Marker, control: ControlServer): ClusterFile {
  return {
    servers: launcher.entries(),
    cluster: { id: marker.clusterId, name: marker.name },
    launcher: {
      ...processRef(process.pid),
      control: control.address,
      token: control.token,
    },
  };
}

function sayReady(prepared: Prepared, launcher: Launcher, startedAtMs: number): void {
  const { folder, context, marker, voice } = prepared;
  const servers = launcher.entries();
  const { cwd } = context;
  const endpoints = ` --endpoints ${servers.map(({ grpc }) => grpc).join(",")}`;
  const words = readyWords({
    name: marker.name,
    folder,
    servers,
    tookMs: performance.now() - startedAtMs,
    command: ownCommand(cwd),
    endpointsFlag: isFoundFrom(cwd, folder) ? "" : endpoints,
  });
  voice.say("ready", words, { folder, servers });
}

function restartCommand(id: number, folder: string, cwd: string): string {
  const where = isFoundFrom(cwd, folder) ? "" : ` --data-dir ${quoted(folder)}`;
  return `${ownCommand(cwd)} dev restart ${id}${where}`;
}

function ownCommand(cwd: string): string {
  return commandWords({ script: process.argv[1] ?? "", cwd });
}

/** The servers take everything from their files; a variable of ours must not reach all of them. */
function withoutSettings(env: CliContext["env"]): CliContext["env"] {
  const taken = new Set([...SETTINGS.map(({ variable }) => variable), "CADASTRE_CONFIG"]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !taken.has(name)));
}
