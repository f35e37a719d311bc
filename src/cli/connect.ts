// The process as the verbs meet it: a client over gRPC for the servers that local-cluster.ts
// finds, Ctrl-C, files and the standard input. gRPC is loaded when a verb connects, not before:
// every command line reads this file.
import { randomInt, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Prng } from "../base/prng.ts";
import { systemClock, systemTimers } from "../server/system.ts";
import type { CliContext } from "./context.ts";
import { usageError } from "./failure.ts";
import { findEndpoints } from "./local-cluster.ts";
import { StopSignals, signalExitCode } from "./stop-signals.ts";
import type { Connection, Interrupt, VerbWorld } from "./verb-world.ts";

const SEED_LIMIT = 2 ** 48 - 1;

export const PROCESS_WORLD: VerbWorld = {
  connect,
  catchInterrupt,
  readInput,
  wallNow: () => new Date(),
};

async function connect(context: CliContext): Promise<Connection> {
  const endpoints = findEndpoints(context);
  const [{ Client }, { grpcChannel }] = await Promise.all([
    import("../client/client.ts"),
    import("../client/grpc/grpc-channel.ts"),
  ]);
  const client = new Client({
    endpoints,
    channels: grpcChannel,
    clock: systemClock,
    timers: systemTimers,
    prng: Prng.fromSeed(randomInt(SEED_LIMIT)),
    clientId: `cli-${randomUUID()}`,
    defaultDeadlineMs: context.options.timeoutMs,
  });
  return { client, endpoints, channels: grpcChannel };
}

function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  const signals = new StopSignals();
  void signals.first.then(() => controller.abort());
  signals.onRepeated((signal) => process.exit(signalExitCode(signal)));
  return { signal: controller.signal, dispose: () => signals.dispose() };
}

async function readInput(file: string, context: CliContext): Promise<Uint8Array> {
  try {
    if (file !== "-") return await readFile(path.resolve(context.cwd, file));
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw usageError(`cannot read ${file} (${code})`);
  }
}
