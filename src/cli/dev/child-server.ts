// One server of the development cluster as a child process: its lines, how it ended, and how to
// end it. The channel to it is what ends it when this process is killed outright.
import { spawn, type ChildProcess } from "node:child_process";
import { LineSplitter } from "./line-splitter.ts";
import { processRef, type ProcessRef } from "./processes.ts";

/** What is left of the three seconds that a stop may take goes to the launcher itself. */
export const KILL_AFTER_MS = 2_500;
const LAST_WORDS_MS = 200;
const LAST_LINES_MAX = 5;

export interface ServerCommand {
  readonly file: string;
  /** Before `serve --config FILE`. */
  readonly args: readonly string[];
}

export interface ChildServerEvents {
  /** A line of the server's log. */
  onLine(line: string): void;
  /** A line that the server wrote to stderr. */
  onErrorLine(line: string): void;
  onEnded(ended: string): void;
}

export class ChildServer {
  readonly id: number;
  readonly process: ProcessRef;
  /** Resolves with how it ended: "SIGKILL", "exit code 1". */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #lastErrorLines: string[] = [];
  #endedHow: string | undefined;

  constructor(args: {
    readonly id: number;
    readonly command: ServerCommand;
    readonly configFile: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly events: ChildServerEvents;
  }) {
    const { command, events } = args;
    this.id = args.id;
    this.#child = spawn(command.file, [...command.args, "serve", "--config", args.configFile], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { ...args.env, CADASTRE_PARENT_IPC: "1" },
    });
    this.process = processRef(this.#child.pid ?? 0);
    splitLines(this.#child.stdout, (line) => events.onLine(line));
    splitLines(this.#child.stderr, (line) => {
      this.#lastErrorLines.push(line);
      if (this.#lastErrorLines.length > LAST_LINES_MAX) this.#lastErrorLines.shift();
      events.onErrorLine(line);
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        if (this.#endedHow !== undefined) return;
        this.#endedHow = how;
        resolve(how);
        events.onEnded(how);
      };
      this.#child.once("error", (error) => end(error.message));
      // Its last words may still be in the pipes; whoever inherited a pipe may never close it.
      this.#child.once("exit", (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        this.#child.once("close", () => end(how));
        setTimeout(() => end(how), LAST_WORDS_MS).unref();
      });
    });
  }

  get endedHow(): string | undefined {
    return this.#endedHow;
  }

  /** What it said last on stderr, which is its reason when it ended by itself. */
  get lastErrorLine(): string | undefined {
    return this.#lastErrorLines.at(-1);
  }

  /**
   * Asks it to stop, and kills it when it has not within the limit; answers whether that was
   * needed. A paused one is woken. Nothing to do for one that has ended.
   */
  async stop(): Promise<"stopped" | "killed"> {
    let outcome: "stopped" | "killed" = "stopped";
    const timer = setTimeout(() => {
      outcome = "killed";
      this.kill();
    }, KILL_AFTER_MS);
    this.#child.kill("SIGTERM");
    this.#child.kill("SIGCONT");
    await this.ended;
    clearTimeout(timer);
    return outcome;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

function splitLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  const splitter = new LineSplitter(onLine);
  stream?.setEncoding("utf8");
  stream?.on("data", (text: string) => splitter.push(text));
  stream?.on("end", () => splitter.end());
}
