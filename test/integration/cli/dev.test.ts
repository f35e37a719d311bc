// `cadastre dev` as a process, with stub servers: what a developer does to it, and what is left.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { readClusterFile, type ClusterFile } from "../../../src/cli/dev/cluster-file.ts";
import { isPaused } from "../../../src/cli/dev/processes.ts";
import {
  cleanUp,
  freeBasePort,
  freshFolder,
  isAlive,
  scriptPath,
  start,
  timed,
  until,
  type Running,
} from "./processes.ts";

const LAUNCHER = scriptPath("stub-launcher.mjs");
/** Three seconds from the signal to the last process, and what a busy machine adds. */
const STOP_MS_MAX = 3_000 + 1_000;

afterEach(cleanUp);

function clusterOf(folder: string): ClusterFile {
  const file = readClusterFile(folder);
  if (file === undefined) throw new Error(`no cluster.json in ${folder}`);
  return file;
}

function pidsOf(folder: string): readonly number[] {
  return clusterOf(folder).servers.map(({ pid }) => pid);
}

async function startCluster(
  folder: string,
  args: readonly string[] = [],
  options: Parameters<typeof start>[2] = {},
): Promise<Running> {
  const basePort = String(await freeBasePort());
  const flags = ["--data-dir", folder, "--base-port", basePort, ...args];
  const launcher = start(LAUNCHER, ["dev", ...flags], options);
  await launcher.says(args.includes("json") ? '"event":"ready"' : "is ready");
  return launcher;
}

async function dev(
  folder: string,
  ...args: string[]
): Promise<{ code: number | null; output: string }> {
  const verb = start(LAUNCHER, ["dev", ...args, "--data-dir", folder]);
  const { code } = await verb.ended;
  return { code, output: verb.output() };
}

test("it says what it does, and when ready where everything is", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  await launcher.says("Ctrl-C stops the cluster");
  const { servers, cluster } = clusterOf(folder);
  expect(servers.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(servers.every(({ pid }) => isAlive(pid))).toBe(true);
  for (const { grpc, peer, http, pid } of servers) {
    expect(launcher.output()).toContain(
      `grpc ${grpc}  peer ${peer}  http http://${http}  pid ${pid}`,
    );
  }
  const endpoints = servers.map(({ grpc }) => grpc).join(",");
  expect(launcher.output()).toContain(` status --endpoints ${endpoints}\n`);
  expect(launcher.output()).toContain(` s3 serving format=pretty id=${cluster.id}\n`);
  expect(launcher.output()).toContain(`data  ${folder}\n`);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s stops everything in order",
  async (signal) => {
    const folder = freshFolder();
    const launcher = await startCluster(folder);
    const pids = pidsOf(folder);
    launcher.child.kill(signal);
    const { value, ms } = await timed(launcher.ended);
    expect(value).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(STOP_MS_MAX);
    expect(pids.some(isAlive)).toBe(false);
    expect(readFileSync(path.join(folder, "s2", "stopped"), "utf8")).toBe("SIGTERM");
    expect(readdirSync(folder)).not.toContain("cluster.json");
    expect(readdirSync(folder)).not.toContain("launcher.lock");
  },
);

test("Ctrl-C of a terminal, which all processes get, is one orderly stop", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder, [], { detached: true });
  const pids = pidsOf(folder);
  process.kill(-launcher.pid, "SIGINT");
  expect(await launcher.ended).toEqual({ code: 0, signal: null });
  expect(pids.some(isAlive)).toBe(false);
  expect(launcher.output()).not.toContain("starts it again");
});

test("a signal while it starts ends it, too", async () => {
  const folder = freshFolder();
  const port = String(await freeBasePort());
  const launcher = start(LAUNCHER, ["dev", "--data-dir", folder, "--base-port", port]);
  await launcher.says("started server 3");
  launcher.child.kill("SIGINT");
  const { value, ms } = await timed(launcher.ended);
  expect(value.code).toBe(0);
  expect(ms).toBeLessThan(STOP_MS_MAX);
  expect(existsSync(path.join(folder, "launcher.lock"))).toBe(false);
});

test("a server that does not stop is killed in time", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  writeFileSync(path.join(folder, "s2", "stubborn"), "");
  const pids = pidsOf(folder);
  launcher.child.kill("SIGINT");
  const { value, ms } = await timed(launcher.ended);
  expect(value.code).toBe(0);
  expect(ms).toBeLessThan(STOP_MS_MAX);
  expect(launcher.output()).toContain("server 2 did not stop in time and was killed");
  expect(launcher.output()).not.toContain("server 1 did not stop in time");
  expect(pids.some(isAlive)).toBe(false);
});

test("servers end when their launcher is killed outright, and the next start goes on", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  const pids = pidsOf(folder);
  const { id } = clusterOf(folder).cluster;
  writeFileSync(path.join(folder, "s3", "slow"), "");
  launcher.child.kill("SIGKILL");
  const again = start(LAUNCHER, ["dev", "--data-dir", folder]);
  await until(() => !pids.some(isAlive), "the servers have ended", STOP_MS_MAX);
  await again.says("is ready");
  expect(clusterOf(folder).cluster.id).toBe(id);
  expect(readFileSync(path.join(folder, "s1", "starts"), "utf8")).toBe("2");
});

test("a paused server that a killed launcher left behind is named with the cure", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder, ["--servers", "1"]);
  const [pid = 0] = pidsOf(folder);
  process.kill(pid, "SIGSTOP");
  launcher.child.kill("SIGKILL");
  await launcher.ended;
  const { code, output } = await dev(folder);
  process.kill(pid, "SIGKILL");
  expect(code).toBe(1);
  expect(output).toContain(`are still there (pids ${pid}). End them with \`kill -9 ${pid}\`.`);
});

test("a server that dies is reported, and a restart brings it back", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  const [, killed = 0] = pidsOf(folder);
  const kill = await dev(folder, "kill", "2");
  expect(kill).toEqual({ code: 0, output: `killed server 2 (pid ${killed})\n` });
  await launcher.says("server 2 ended (SIGKILL)");
  expect(launcher.output()).toMatch(/dev restart 2 --data-dir '.*'` starts it again/);
  await until(() => clusterOf(folder).servers[1]?.ended === "SIGKILL", "cluster.json knows it");
  const dead = await dev(folder, "kill", "2");
  expect(dead.code).toBe(4);
  expect(dead.output).toContain("server 2 does not run. Start it with `cadastre dev restart 2`.");

  const restart = await dev(folder, "restart", "2");
  const [, pid = 0] = pidsOf(folder);
  expect(restart).toEqual({ code: 0, output: `restarted server 2 (pid ${pid}); it is ready\n` });
  expect([isAlive(pid), pid === killed]).toEqual([true, false]);
  expect(clusterOf(folder).servers[1]?.ended).toBeUndefined();
});

test("a crash by itself is reported with its exit code", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  await fetch(`http://${clusterOf(folder).servers[2]?.http}/crash`).catch(() => undefined);
  await launcher.says("server 3 ended (exit code 3)");
});

test("a restart of a live server stops it in order first", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  const [first = 0] = pidsOf(folder);
  expect((await dev(folder, "restart", "1")).code).toBe(0);
  expect(isAlive(first)).toBe(false);
  expect(readFileSync(path.join(folder, "s1", "stopped"), "utf8")).toBe("SIGTERM");
  expect(readFileSync(path.join(folder, "s1", "starts"), "utf8")).toBe("2");
  expect(launcher.output()).not.toContain("starts it again");
});

test("when all servers are dead the launcher can still start them again", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder, ["--servers", "1"]);
  await dev(folder, "kill", "1");
  await launcher.says("server 1 ended");
  expect((await dev(folder, "restart", "1")).code).toBe(0);
});

test("a restart that fails says why, and the cluster goes on", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  writeFileSync(path.join(folder, "s2", "fail"), "");
  const { code, output } = await dev(folder, "restart", "2");
  expect(code).toBe(1);
  expect(output).toContain("server 2 ended while starting: the disk is on fire. Put it out.");
  expect(launcher.child.exitCode).toBeNull();
  const unknown = await dev(folder, "restart", "9");
  expect(unknown).toMatchObject({ code: 3 });
  expect(unknown.output).toContain("there is no server 9; there are 1, 2, 3");
});

test("a paused server is frozen until it is resumed, and Ctrl-C stops it all the same", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  const [pid = 0] = pidsOf(folder);
  expect((await dev(folder, "pause", "1")).output).toBe(`paused server 1 (pid ${pid})\n`);
  await until(() => isPaused(pid), "it is paused");
  expect((await dev(folder, "pause", "1")).output).toBe("server 1 is paused already\n");
  expect((await dev(folder, "resume", "1")).output).toBe(`resumed server 1 (pid ${pid})\n`);
  await until(() => !isPaused(pid), "it goes on");
  expect((await dev(folder, "resume", "1")).output).toBe("server 1 is not paused\n");
  await dev(folder, "pause", "1");
  launcher.child.kill("SIGINT");
  const { value, ms } = await timed(launcher.ended);
  expect([value.code, ms < STOP_MS_MAX, isAlive(pid)]).toEqual([0, true, false]);
  expect(launcher.output()).not.toContain("was killed");
});

test("a second launcher on the same folder is refused and harms nothing", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder);
  const before = clusterOf(folder);
  for (const extra of [[], ["--fresh"]]) {
    const { code, output } = await dev(folder, ...extra);
    expect(code).toBe(1);
    expect(output).toContain(`already runs in ${folder} (launcher pid ${launcher.pid})`);
    expect(output.split("\n")).toHaveLength(2);
  }
  expect(clusterOf(folder)).toEqual(before);
  expect(before.servers.every(({ pid }) => isAlive(pid))).toBe(true);
});

test("a busy port is named before any server starts", async () => {
  const folder = freshFolder();
  const base = await freeBasePort();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(base + 11, "127.0.0.1", resolve));
  const { code, output } = await dev(folder, "--base-port", String(base));
  taken.close();
  expect(code).toBe(1);
  expect(output).toBe(
    `cadastre: port ${base + 11} (peer of server 2) is used by another process.` +
      " Stop that process, or give other ports with --base-port.\n",
  );
});

test("a server that cannot start ends the start, with its reason, and the others", async () => {
  const folder = freshFolder();
  const first = await startCluster(folder);
  first.child.kill("SIGTERM");
  await first.ended;
  writeFileSync(path.join(folder, "s3", "fail"), "");
  const { code, output } = await dev(folder);
  expect(code).toBe(1);
  expect(output).toContain("cadastre: server 3 ended while starting: the disk is on fire.");
  const pids = [...output.matchAll(/\(pid (\d+)\)/g)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(3);
  expect(pids.some(isAlive)).toBe(false);
  expect(existsSync(path.join(folder, "cluster.json"))).toBe(false);
});

test("--fresh begins anew in the cluster's folder and is refused in any other", async () => {
  const folder = freshFolder();
  const first = await startCluster(folder);
  const { id } = clusterOf(folder).cluster;
  first.child.kill("SIGTERM");
  await first.ended;
  writeFileSync(path.join(folder, "notes.txt"), "mine");
  await startCluster(folder, ["--fresh", "--servers", "1"]);
  expect(clusterOf(folder).cluster.id).not.toBe(id);
  expect(readFileSync(path.join(folder, "s1", "starts"), "utf8")).toBe("1");
  expect(existsSync(path.join(folder, "s2"))).toBe(false);
  expect(readFileSync(path.join(folder, "notes.txt"), "utf8")).toBe("mine");

  const other = freshFolder();
  mkdirSync(path.join(other, "s1"));
  const refused = await dev(other, "--fresh");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain("is not the folder of a development cluster");
  expect(existsSync(path.join(other, "s1"))).toBe(true);
});

test("with --log json every line of the output but the servers' own is JSON", async () => {
  const folder = freshFolder();
  const launcher = await startCluster(folder, ["--log", "json", "--servers", "1"]);
  const own = launcher
    .output()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("00:00:00"));
  const events = own.map((line) => (JSON.parse(line) as { event: string }).event);
  expect(events).toEqual(["starting", "serverStarted", "ready"]);
  expect(launcher.output()).toContain("format=json");
});

test("the environment's settings do not reach all servers alike", async () => {
  const folder = freshFolder();
  const env = { CADASTRE_SERVER_ID: "1", CADASTRE_CONFIG: "/nowhere", STUB_PRINT_ENV: "1" };
  const launcher = await startCluster(folder, ["--servers", "1"], { env });
  await launcher.says("env: CADASTRE_ENDPOINTS,CADASTRE_PARENT_IPC\n");
});

test("what is missing or misspelt is said in one line", async () => {
  const folder = freshFolder();
  const none = await dev(folder, "kill", "1");
  expect(none.code).toBe(5);
  expect(none.output).toContain(`no development cluster runs in ${folder}. Start a local cluster`);
  const kil = await dev(folder, "kil", "1");
  expect(kil).toEqual({
    code: 2,
    output: "cadastre: unknown command 'dev kil'. Did you mean kill?\n",
  });
});
