/**
 * The README's tour, run as it stands, and what it promises about a killed leader: grants go on, no
 * acknowledged grant is lost, no epoch goes back, the watch goes on without gap or repeat.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BINARY, freePorts, ROOT, until } from "../support/real-cluster.ts";
import { missingLine, tourCommands } from "./readme-commands.ts";

const COMMAND_TIMEOUT_MS = 60_000;

let folder: string;
const children: ChildProcess[] = [];
let devOutput = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cadastre tour-"));
  await mkdir(path.join(folder, "test"));
  await symlink(path.join(ROOT, "test/fixtures"), path.join(folder, "test/fixtures"));
  const [port] = await freePorts(1);
  const dev = start(["dev", "--data-dir", ".cadastre", "--base-port", String(port)]);
  dev.stdout?.on("data", (chunk: Buffer) => (devOutput += chunk.toString()));
  dev.stderr?.on("data", (chunk: Buffer) => (devOutput += chunk.toString()));
  await until(() => {
    if (dev.exitCode !== null) throw new Error(devOutput);
    return devOutput.includes("is ready");
  }, COMMAND_TIMEOUT_MS);
});

afterAll(async () => {
  for (const child of children.toReversed()) await end(child);
  await rm(folder, { recursive: true, force: true });
});

test("every command of the README's tour does what the README shows", async () => {
  const commands = tourCommands(await readFile(path.join(ROOT, "README.md"), "utf8"));
  expect(commands.length).toBeGreaterThan(10);
  for (const { words, isBackground, shown } of commands) {
    if (isBackground) {
      const child = start(words);
      await firstOutput(child);
      continue;
    }
    await shows(words, shown);
  }
});

test("the tour's promises hold when the leader is killed", async () => {
  const watch = start(["watch", "--keyspace", "demo", "-o", "json"]);
  const lines = collectJson(watch);
  await until(() => lines.length > 0);
  const before = await ranges();
  const leader = await shardLeader();
  await run(["dev", "kill", leader]);
  const owners = ["node-1", "node-2"];
  for (const [at, range] of before.entries()) {
    await run(["release", "--range", range.rangeId, "--yes"]);
    await run([
      "grant",
      "--keyspace",
      "demo",
      "--range",
      range.rangeId,
      "--to",
      owners[at % 2] ?? "",
    ]);
  }
  const after = await ranges();
  expect(after.map(({ rangeId }) => rangeId)).toEqual(before.map(({ rangeId }) => rangeId));
  for (const [at, { epoch }] of after.entries()) {
    expect(Number(epoch)).toBeGreaterThan(Number(before[at]?.epoch));
  }
  await run(["dev", "restart", leader]);
  const granted = after.map(({ epoch }) => Number(epoch));
  await until(() => Math.max(...granted) <= (lastRevision(lines) ?? 0), COMMAND_TIMEOUT_MS);
  expectWhole(lines, after);
});

interface RangeLine {
  readonly rangeId: string;
  readonly epoch: string;
}

async function ranges(): Promise<RangeLine[]> {
  const { stdout } = await run(["range", "list", "demo", "-o", "json"]);
  const parsed = JSON.parse(stdout) as { ranges: { descriptor?: RangeLine; rangeId?: string }[] };
  return parsed.ranges.map((range) => (range.descriptor ?? range) as RangeLine);
}

async function shardLeader(): Promise<string> {
  const { stdout } = await run(["status", "-o", "json"]);
  const parsed = JSON.parse(stdout) as { groups: { group: number; leaderServerId: number }[] };
  return String(parsed.groups.find(({ group }) => group === 1)?.leaderServerId);
}

type WatchLine = Readonly<Record<string, unknown>>;

function collectJson(child: ChildProcess): WatchLine[] {
  const lines: WatchLine[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part !== "") lines.push(JSON.parse(part) as WatchLine);
  });
  return lines;
}

function lastRevision(lines: readonly WatchLine[]): number | undefined {
  const revisions = lines.map((line) => Number(line["revision"])).filter(Number.isFinite);
  return revisions.length === 0 ? undefined : Math.max(...revisions);
}

/** Revisions only rise, and every grant that the list shows was told, once. */
function expectWhole(lines: readonly WatchLine[], after: readonly RangeLine[]): void {
  const revisions = lines.map((line) => Number(line["revision"])).filter(Number.isFinite);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  const told = JSON.stringify(lines);
  for (const { epoch } of after) expect(told).toContain(`"epoch":"${epoch}"`);
}

/** Runs a command until its output is as shown: owners need a moment to take their grants. */
async function shows(words: readonly string[], shown: readonly string[]): Promise<void> {
  const mayRepeat = ["route", "range", "node", "status"].includes(words[0] ?? "");
  const deadlineMs = performance.now() + (mayRepeat ? 15_000 : 0);
  for (;;) {
    const { stdout, code } = await run(words);
    const missing = missingLine(shown, stdout);
    // `route` says by its exit code that nobody owns the range.
    const isFine = code === 0 || (words[0] === "route" && code === 4);
    if (isFine && missing === undefined) return;
    if (performance.now() < deadlineMs) continue;
    throw new Error(`cadastre ${words.join(" ")} (exit ${code}) lacks "${missing}":\n${stdout}`);
  }
}

async function run(words: readonly string[]): Promise<{ stdout: string; code: number | null }> {
  const child = start(words);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", (exitCode) => resolve(exitCode));
  });
  const isRouteOfNobody = words[0] === "route" && code === 4;
  if (code !== 0 && !isRouteOfNobody) {
    throw new Error(`cadastre ${words.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  }
  return { stdout: stdout + stderr, code };
}

function start(words: readonly string[]): ChildProcess {
  const { CADASTRE_ENDPOINTS: _ignored, ...env } = process.env;
  const child = spawn(process.execPath, [BINARY, ...words], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

function firstOutput(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exited;
  clearTimeout(timer);
}
