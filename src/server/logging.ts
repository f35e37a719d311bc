// Logging of one server: a pino logger behind the `Logger` port, as JSON lines or as one short
// line per event for people. Lines are written in the background, so that a reader that stands
// still cannot stop the server; what a process says last is written before it ends.
import pino from "pino";
import type { Logger } from "../replica/ports.ts";
import { renderRecord } from "./log-line.ts";

export interface ServerLog extends Logger {
  /** The same log, with `component` in every line: "raft", "net", "storage". */
  component(name: string): ServerLog;
  /** What ends the process. Written before it returns; a line under way may land after it. */
  fatal(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Resolves when every line is written, in order: never while the reader stands still. */
  drained(): Promise<void>;
}

/** Where lines go. `flushSync` writes what waits, past a line that is being written. */
export interface LogSink {
  write(line: string): void;
  flushSync(): void;
  drained(): Promise<void>;
}

export interface ServerLogOptions {
  /** Of this server, as lines begin: "s1". */
  readonly serverName: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "pretty" | "json";
  /** Standard output when left out. */
  readonly sink?: LogSink;
}

/** Lines that wait for a reader; beyond this many bytes new ones are dropped. */
const BACKLOG_BYTES_MAX = 4 * 1024 * 1024;

export function createServerLog(options: ServerLogOptions): ServerLog {
  const sink = options.sink ?? stdoutSink();
  const stream = options.format === "json" ? sink : prettySink(sink);
  const logger = pino(
    {
      level: options.level,
      base: { server: options.serverName },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return new PinoLog(logger, sink);
}

class PinoLog implements ServerLog {
  readonly #logger: pino.Logger;
  readonly #sink: LogSink;

  constructor(logger: pino.Logger, sink: LogSink) {
    this.#logger = logger;
    this.#sink = sink;
  }

  debug(event: string, fields?: Readonly<Record<string, unknown>>): void {
    if (this.#logger.isLevelEnabled("debug")) this.#logger.debug(record(event, fields));
  }

  info(event: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#logger.info(record(event, fields));
  }

  warn(event: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#logger.warn(record(event, fields));
  }

  error(event: string, fields?: Readonly<Record<string, unknown>>): void {
    this.#logger.error(record(event, fields));
  }

  fatal(event: string, fields?: Readonly<Record<string, unknown>>): void {
    // Pino flushes the stream after a line of this level.
    this.#logger.fatal(record(event, fields));
  }

  component(name: string): ServerLog {
    return new PinoLog(this.#logger.child({ component: name }), this.#sink);
  }

  drained(): Promise<void> {
    return this.#sink.drained();
  }
}

/** Written by the logger itself; a field of the same name gets an underscore. */
const OWN_KEYS: readonly string[] = ["level", "time", "server", "component", "event"];

function record(
  event: string,
  fields: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const out: Record<string, unknown> = { event };
  for (const [key, value] of Object.entries(fields ?? {})) {
    out[OWN_KEYS.includes(key) ? `${key}_` : key] = plain(value);
  }
  return out;
}

/** What JSON cannot hold, in a form that a reader can use. */
function plain(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    return { name, message, stack, ...(cause === undefined ? {} : { cause: plain(cause) }) };
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return typeof value === "bigint" ? value.toString() : value;
}

function stdoutSink(): LogSink {
  const options = { dest: 1, sync: false, minLength: 0, maxLength: BACKLOG_BYTES_MAX };
  const stream = pino.destination(options);
  let isIdle = true;
  stream.on("drain", () => {
    isIdle = true;
  });
  return {
    write: (line) => {
      isIdle = false;
      stream.write(line);
    },
    flushSync: () => stream.flushSync(),
    drained: () => (isIdle ? Promise.resolve() : new Promise((r) => stream.once("drain", r))),
  };
}

function prettySink(sink: LogSink): LogSink {
  return {
    write: (line) => {
      const minutes = -new Date().getTimezoneOffset();
      sink.write(`${renderRecord(JSON.parse(line) as Record<string, unknown>, minutes)}\n`);
    },
    flushSync: () => sink.flushSync(),
    drained: () => sink.drained(),
  };
}
