// Starts programs of the CLI as real processes, and waits for what they say and do.
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const DEADLINE_MS = 20_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** So far, both streams as they came. */
  output(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
  /** Resolves when the output has this text. */
  says(text: string): Promise<void>;
}

const started: ChildProcess[] = [];
const folders: string[] = [];

export function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

export function start(
  script: string,
  args: readonly string[],
  options: {
    readonly ipc?: boolean;
    readonly detached?: boolean;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** A program and its arguments that run Node in their turn. */
    readonly by?: readonly string[];
  } = {},
): Running {
  const stdio: StdioOptions = [
    "ignore",
    "pipe",
    "pipe",
    ...(options.ipc === true ? ["ipc" as const] : []),
  ];
  const [file, ...rest] = [...(options.by ?? []), process.execPath];
  const child = spawn(file, [...rest, script, ...args], {
    stdio,
    detached: options.detached === true,
    cwd: options.cwd ?? os.tmpdir(),
    env: { ...process.env, CADASTRE_ENDPOINTS: "", ...options.env },
  });
  started.push(child);
  let [output, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    stderr += text;
  });
  const exited = new Promise<Ended>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  // "close" never comes once the test has closed the channel itself.
  const heard = [child.stdout, child.stderr].map(
    (stream) => new Promise<void>((resolve) => void stream?.once("end", resolve)),
  );
  const ended = exited.then((how) => Promise.all(heard).then(() => how));
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    stderr: () => stderr,
    ended,
    says: (text) =>
      until(() => {
        if (output.includes(text)) return true;
        if (child.exitCode === null && child.signalCode === null) return false;
        throw new Error(`it ended without saying "${text}"; it said:\n${output}`);
      }, `"${text}" is said`),
  };
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs: number = DEADLINE_MS,
): Promise<void> {
  const startedAtMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAtMs > deadlineMs) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** How long something took, beside its result. */
export async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const startedAtMs = performance.now();
  const value = await work;
  return { value, ms: performance.now() - startedAtMs };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** With a space, as paths of users have. */
export function freshFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "cadastre it "));
  folders.push(folder);
  return folder;
}

/** A port from which three servers, ten ports apart, find theirs free. */
export async function freeBasePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const base = await freePort();
    const ports = [0, 10, 20].flatMap((offset) => [0, 1, 2].map((kind) => base + offset + kind));
    if ((ports.at(-1) ?? 0) > 65_535) continue;
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return base;
  }
  throw new Error("no run of free ports");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Ends whatever a test has left. Servers end with their launcher. */
export async function cleanUp(): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
  }
  for (const folder of folders.splice(0)) {
    await until(() => removed(folder), `${folder} can be removed`);
  }
}

function removed(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
