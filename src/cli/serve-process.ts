// One server as a process: starts it, ends it in order on a signal or when its parent goes away,
// and says in one line why it could not go on. A bug exits with 70, after its last words are out.
import { InvariantError } from "../base/assert.ts";
import type { LoadedConfig } from "../server/config/load.ts";
import { createServerLog, type ServerLog } from "../server/logging.ts";
import type { StartServer } from "../server/running-server.ts";
import { within } from "../server/system.ts";
import type { CliContext } from "./context.ts";
import { CliError, EXIT_BUG, failureLine, failureOf } from "./failure.ts";
import { signalExitCode, StopSignals } from "./stop-signals.ts";

/** Whoever stops servers allows three seconds; the rest is for the exit itself. */
const STOP_TIMEOUT_MS = 2_800;
/** A reader of the log that stands still is waited for no longer. */
const LAST_LINES_MS = 1_000;
/** What still holds the process open after a stop is forgotten, not waited for. */
const LINGER_MS = 200;

/** Resolves when the server has stopped in order. Throws what the CLI prints. */
export async function runServeProcess(args: {
  readonly context: CliContext;
  readonly loaded: LoadedConfig;
  readonly startServer: StartServer;
}): Promise<void> {
  const { config, warnings } = args.loaded;
  const log = createServerLog({ serverName: `s${config.server.id}`, ...config.log });
  endOnBugs(args.context, log);
  const signals = new StopSignals();
  signals.onRepeated((signal) => process.exit(signalExitCode(signal)));
  const parentGone = parentDisconnected();
  for (const warning of warnings) log.warn("configWarning", { warning });

  const starting = args.startServer(config, log);
  const early = await Promise.race([starting.catch(() => undefined), signals.first, parentGone]);
  if (typeof early === "string") {
    // Half started: storage is safe to leave at any moment, and nobody is served yet.
    log.info("stoppedWhileStarting", { why: early });
    await within(LAST_LINES_MS, log.drained());
    process.exit(signalExitCode("SIGTERM"));
  }
  const server = await starting.catch((error: unknown) => {
    throw startFailure(error, log);
  });

  const end = await Promise.race([signals.first, parentGone, server.failed]);
  if (typeof end === "string") log.info("stopping", { why: end });
  else log.fatal("serverFailed", { error: end });
  const stopped = await within(STOP_TIMEOUT_MS, server.stop());
  log.info(stopped ? "stopped" : "stopTimedOut");
  await within(LAST_LINES_MS, log.drained());
  setTimeout(() => process.exit(), LINGER_MS).unref();
  if (typeof end !== "string") throw worldFailure(end);
  if (!stopped) {
    throw new CliError({ message: `the server did not stop within ${STOP_TIMEOUT_MS} ms` });
  }
}

/** Resolves when a parent that holds a channel to us ends; never without such a parent. */
function parentDisconnected(): Promise<string> {
  return new Promise((resolve) => {
    if (process.send === undefined) return;
    process.once("disconnect", () => resolve("the parent process ended"));
  });
}

// ---- What goes wrong.

function endOnBugs(context: CliContext, log: ServerLog): void {
  const end = (error: unknown): void => {
    log.fatal("bug", { error });
    context.stderr.write(`${failureLine({ ...failureOf(error), exit: EXIT_BUG })}\n`);
    process.exit(EXIT_BUG);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

function startFailure(error: unknown, log: ServerLog): unknown {
  log.fatal("startFailed", { error });
  return isBug(error) ? error : worldFailure(error);
}

function worldFailure(error: unknown): unknown {
  if (error instanceof CliError || isBug(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const remedy = remedyOf(error);
  return new CliError({ message, cause: error, ...(remedy === undefined ? {} : { remedy }) });
}

function isBug(error: unknown): boolean {
  return [InvariantError, TypeError, ReferenceError, RangeError].some(
    (kind) => error instanceof kind && !("code" in error),
  );
}

function remedyOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("remedy" in error)) return undefined;
  return typeof error.remedy === "string" ? error.remedy : undefined;
}
