// `cadastre dev`: a whole cluster on this machine in one terminal, and the verbs that hurt and
// heal single servers of it, to see what a cluster does when one is gone.
import path from "node:path";
import { Option, type Command } from "commander";
import { EXIT } from "../../wire/errors.ts";
import { nearMiss } from "../../server/config/near-miss.ts";
import { parsePort, parseServerId } from "../arguments.ts";
import type { CliContext, CommandModule } from "../context.ts";
import type { ServerCommand } from "../dev/child-server.ts";
import type { ClusterServerEntry } from "../dev/cluster-file.ts";
import { isPaused, isRunning } from "../dev/processes.ts";
import { CliError, usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import {
  findLocalCluster,
  noClusterError,
  PACKAGE_ROOT,
  runningClusterIn,
  type LocalCluster,
} from "../local-cluster.ts";

const DEFAULT_FOLDER = ".cadastre";

/** `command` stands in for this package's own `serve` in tests. */
export function devCommand(command: ServerCommand = OWN_COMMAND): CommandModule {
  return { register: (program, context) => registerDev(program, context, command) };
}

const OWN_COMMAND: ServerCommand = {
  file: process.execPath,
  args: [path.join(PACKAGE_ROOT, "src/cli/cadastre.cjs")],
};

function registerDev(program: Command, context: CliContext, command: ServerCommand): void {
  const dev = program
    .command("dev")
    .description("Run a whole cluster on this machine, until Ctrl-C.")
    .option("--data-dir <dir>", `folder for the data (default: ${DEFAULT_FOLDER})`)
    .addOption(
      new Option(
        "--base-port <port>",
        "first port; each server takes three, ten apart (default: as before, else 7400)",
      ).argParser(parsePort),
    )
    .addOption(
      new Option("--servers <count>", "how many (default: as before, else 3)").choices([
        "1",
        "3",
        "5",
      ]),
    )
    .option("--fresh", "delete the data of the cluster in the folder first")
    .addOption(new Option("--log <format>", "log lines of the servers").choices(["pretty", "json"]))
    .allowExcessArguments()
    .action(async (options: DevFlags) => {
      const [unknown] = dev.args;
      if (unknown !== undefined) throw unknownVerb(unknown);
      await runDevVerb(options, context, command);
    });
  addExamples(dev, [
    { run: "npx cadastre dev", does: "three servers, data in .cadastre" },
    { run: "npx cadastre dev --base-port 7500 --data-dir other", does: "a second cluster" },
    { run: "npx cadastre dev kill 2", does: "kill server 2 outright" },
    { run: "npx cadastre dev restart 2", does: "start it again" },
  ]);
  for (const verb of VERBS) registerVerb(dev, verb, context);
}

interface DevFlags {
  readonly dataDir?: string;
  readonly basePort?: number;
  readonly servers?: string;
  readonly fresh?: boolean;
  readonly log?: "pretty" | "json";
}

async function runDevVerb(
  flags: DevFlags,
  context: CliContext,
  command: ServerCommand,
): Promise<void> {
  const { runDev } = await import("../dev/run-dev.ts");
  await runDev(
    {
      folder: flags.dataDir ?? DEFAULT_FOLDER,
      basePort: flags.basePort,
      servers: flags.servers === undefined ? undefined : Number(flags.servers),
      fresh: flags.fresh === true,
      log: flags.log ?? (context.options.output === "json" ? "json" : "pretty"),
    },
    context,
    command,
  );
}

// ---- Verbs on one server of the running cluster.

interface Verb {
  readonly name: "kill" | "pause" | "resume" | "restart";
  readonly description: string;
  /** Answers what has happened, in the past tense. */
  run(server: ClusterServerEntry, cluster: LocalCluster): Promise<Done> | Done;
}

interface Done {
  readonly words: string;
  readonly pid: number;
}

const VERBS: readonly Verb[] = [
  { name: "kill", description: "Kill a server outright (SIGKILL).", run: kill },
  { name: "pause", description: "Freeze a server (SIGSTOP), as a long stall would.", run: pause },
  { name: "resume", description: "Let a frozen server go on (SIGCONT).", run: resume },
  { name: "restart", description: "Start a server again, dead or alive.", run: restart },
];

function unknownVerb(word: string): CliError {
  const names = VERBS.map(({ name }) => name);
  const meant = nearMiss(word, names);
  const remedy = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`;
  return usageError(`unknown command 'dev ${word}'`, remedy);
}

function registerVerb(dev: Command, verb: Verb, context: CliContext): void {
  const command = dev
    .command(verb.name)
    .allowExcessArguments(false)
    .description(verb.description)
    .argument("<id>", "of the server", parseServerId)
    .action(async (id: number) => {
      const cluster = findCluster(command.optsWithGlobals<DevFlags>().dataDir, context);
      const { words, pid } = await verb.run(serverOf(cluster, id), cluster);
      context.print({
        json: () => ({ id, did: verb.name, pid }),
        text: () => words,
      });
    });
  addExamples(command, [{ run: `npx cadastre dev ${verb.name} 2`, does: `${verb.name} server 2` }]);
}

function findCluster(dataDir: string | undefined, context: CliContext): LocalCluster {
  const folder = dataDir === undefined ? undefined : path.resolve(context.cwd, dataDir);
  const found = folder === undefined ? findLocalCluster(context.cwd) : runningClusterIn(folder);
  if (found !== undefined) return found;
  throw noClusterError(`no development cluster runs in ${folder ?? DEFAULT_FOLDER}`);
}

function serverOf({ file }: LocalCluster, id: number): ClusterServerEntry {
  const found = file.servers.find((server) => server.id === id);
  if (found !== undefined) return found;
  const ids = file.servers.map((server) => server.id).join(", ");
  throw new CliError({
    message: `there is no server ${id}; there are ${ids}`,
    exit: EXIT.notFound,
  });
}

function kill(server: ClusterServerEntry): Done {
  sendSignal(server, "SIGKILL");
  return done(server, `killed server ${server.id} (pid ${server.pid})`);
}

function pause(server: ClusterServerEntry): Done {
  assertRuns(server);
  if (isPaused(server.pid)) return done(server, `server ${server.id} is paused already`);
  sendSignal(server, "SIGSTOP");
  return done(server, `paused server ${server.id} (pid ${server.pid})`);
}

function resume(server: ClusterServerEntry): Done {
  assertRuns(server);
  if (!isPaused(server.pid)) return done(server, `server ${server.id} is not paused`);
  sendSignal(server, "SIGCONT");
  return done(server, `resumed server ${server.id} (pid ${server.pid})`);
}

async function restart(server: ClusterServerEntry, { file }: LocalCluster): Promise<Done> {
  const { requestRestart } = await import("../dev/control.ts");
  const pid = await requestRestart(file, server.id);
  return { words: `restarted server ${server.id} (pid ${pid}); it is ready`, pid };
}

function done(server: ClusterServerEntry, words: string): Done {
  return { words, pid: server.pid };
}

function sendSignal(server: ClusterServerEntry, signal: NodeJS.Signals): void {
  assertRuns(server);
  process.kill(server.pid, signal);
}

function assertRuns(server: ClusterServerEntry): void {
  if (server.ended === undefined && isRunning(server)) return;
  throw new CliError({
    message: `server ${server.id} does not run`,
    remedy: `start it with \`cadastre dev restart ${server.id}\``,
    exit: EXIT.conflict,
  });
}
