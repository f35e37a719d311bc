// Runs one command line in this process, against fake directories behind the channel port, and
// gives back what was printed and the exit code.
import type { MonotonicMs } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import { Client } from "../../../src/client/client.ts";
import type { ChannelFactory } from "../../../src/client/channel.ts";
import { grantCommand } from "../../../src/cli/commands/grant.ts";
import { importCommand } from "../../../src/cli/commands/import.ts";
import { keyspaceCommand } from "../../../src/cli/commands/keyspace.ts";
import { nodeCommand } from "../../../src/cli/commands/node.ts";
import { rangeCommand } from "../../../src/cli/commands/range.ts";
import { releaseCommand } from "../../../src/cli/commands/release.ts";
import { routeCommand } from "../../../src/cli/commands/route.ts";
import { statusCommand } from "../../../src/cli/commands/status.ts";
import { watchCommand } from "../../../src/cli/commands/watch.ts";
import { systemTimers } from "../../../src/server/system.ts";
import { usageError } from "../../../src/cli/failure.ts";
import type { NodeWorld } from "../../../src/cli/node/run-node.ts";
import { runCli } from "../../../src/cli/program.ts";
import type { VerbWorld } from "../../../src/cli/verb-world.ts";
import type { ApiServices } from "../../../src/wire/api-services.ts";
import { failed } from "../../../src/base/result.ts";
import { type FakeDirectory, refusal } from "./fake-directory.ts";

export interface VerbRun {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** The one JSON document that was printed. */
  json(): unknown;
}

export interface RunOptions {
  /** By address; those that are missing don't answer. Default: the fake, at s1:1. */
  readonly servers?: Readonly<Record<string, ApiServices>>;
  readonly endpoints?: readonly string[];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly interrupt?: AbortController;
  readonly nodeWorld?: Partial<NodeWorld>;
  readonly onOutput?: (text: string) => void;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export async function runVerb(
  fake: FakeDirectory,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<VerbRun> {
  const servers = options.servers ?? { "s1:1": fake.services };
  const endpoints = options.endpoints ?? Object.keys(servers);
  let out = "";
  let err = "";
  const world = worldOf(servers, endpoints, options);
  const nodeWorld = { ...world, ...noNodeWorld(), ...options.nodeWorld };
  const exit = await runCli(argv, {
    stdout: {
      columns: undefined,
      write: (text) => {
        out += text;
        options.onOutput?.(text);
      },
    },
    stderr: {
      columns: undefined,
      write: (text) => {
        err += text;
      },
    },
    env: options.env ?? {},
    cwd: options.cwd ?? "/nowhere",
    commands: [
      statusCommand(world),
      keyspaceCommand(world),
      nodeCommand(world, nodeWorld),
      rangeCommand(world),
      routeCommand(world),
      grantCommand(world),
      releaseCommand(world),
      watchCommand(world),
      importCommand(world),
    ],
  });
  return { exit, out, err, json: () => JSON.parse(out) as unknown };
}

function worldOf(
  servers: Readonly<Record<string, ApiServices>>,
  endpoints: readonly string[],
  options: RunOptions,
): VerbWorld {
  const channels: ChannelFactory = (address) => ({
    address,
    services: servers[address] ?? deadServices(address),
    close: () => undefined,
  });
  return {
    connect: (context) =>
      Promise.resolve({
        client: new Client({
          endpoints,
          channels,
          clock: { nowMs: () => performance.now() as MonotonicMs },
          timers: systemTimers,
          prng: Prng.fromSeed(7),
          defaultDeadlineMs: context.options.timeoutMs,
        }),
        endpoints,
        channels,
      }),
    catchInterrupt: () => ({
      signal: (options.interrupt ?? new AbortController()).signal,
      dispose: () => undefined,
    }),
    readInput: (file) => {
      const content = options.files?.[file];
      if (content === undefined) return Promise.reject(usageError(`cannot read ${file} (ENOENT)`));
      return Promise.resolve(
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
    },
    wallNow: () => new Date(2026, 0, 2, 14, 3, 7, 215),
  };
}

function noNodeWorld(): Omit<NodeWorld, "catchInterrupt" | "wallNow"> {
  const none = (): Promise<never> => Promise.reject(new Error("no node in this test"));
  return {
    clock: { nowMs: () => 0 as MonotonicMs },
    timers: systemTimers,
    openNodeData: none,
    freshNonce: () => 1,
    takeSeat: none,
  };
}

/** Every call is answered as a channel does that finds nobody. */
function deadServices(address: string): ApiServices {
  const error = refusal("TRANSIENT", `${address} refuses connections`);
  const unary = (): Promise<unknown> => Promise.resolve(failed(error));
  const methods = new Proxy({}, { get: () => unary });
  return new Proxy({} as ApiServices, { get: () => methods });
}
