// `cadastre dev` with real servers: health when some of them are gone, and data that stay.
import { execSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readClusterFile, type ClusterServerEntry } from "../../../src/cli/dev/cluster-file.ts";
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

const BINARY = scriptPath("../../../src/cli/cadastre.cjs");
const STOP_MS_MAX = 3_000 + 1_000;
/** A probe that hangs is as bad as one that lies. */
const PROBE_MS_MAX = 1_000;

let folder: string;
let launcher: Running;

beforeAll(async () => {
  folder = freshFolder();
  const port = String(await freeBasePort());
  launcher = start(BINARY, ["dev", "--data-dir", folder, "--base-port", port]);
  await until(() => launcher.output().includes("Ctrl-C stops the cluster"), "ready", 60_000);
});

afterAll(cleanUp);

function server(id: number): ClusterServerEntry {
  const found = readClusterFile(folder)?.servers.find((one) => one.id === id);
  if (found === undefined) throw new Error(`cluster.json has no server ${id}`);
  return found;
}

async function probe(id: number, question: string): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(PROBE_MS_MAX);
  const answer = await fetch(`http://${server(id).http}${question}`, { signal });
  return { status: answer.status, text: await answer.text() };
}

async function cli(...args: string[]): Promise<{ code: number | null; output: string }> {
  const verb = start(BINARY, args);
  const { code } = await verb.ended;
  return { code, output: verb.output() };
}

const dev = (...args: string[]) => cli("dev", ...args, "--data-dir", folder);

test("when ready, every server says so, and its status names the cluster's leader", async () => {
  for (const id of [1, 2, 3]) {
    expect((await probe(id, "/readyz")).status).toBe(200);
    const status = JSON.parse((await probe(id, "/v1/status")).text) as {
      groups: { leaderServerId: number; term: string }[];
    };
    expect(status.groups.length).toBeGreaterThan(1);
    for (const group of status.groups) expect(group.leaderServerId).toBeGreaterThan(0);
  }
});

test("the three commands that it ends with work as they stand", async () => {
  const [, after = ""] = launcher.output().split("Try in another terminal:\n");
  const [status = "", create = "", watch = ""] = after.split("\n");
  expect(execSync(status, { cwd: os.tmpdir(), encoding: "utf8" })).toMatch(/^healthy: 3 of 3/);
  expect(execSync(create, { cwd: os.tmpdir(), encoding: "utf8" })).toMatch(
    /^Created keyspace demo/,
  );
  const watching = spawn(`exec ${watch.trim()}`, { shell: true, cwd: os.tmpdir() });
  let said = "";
  watching.stdout.on("data", (text: Buffer) => (said += text.toString()));
  const ended = new Promise<number | null>((resolve) => void watching.once("exit", resolve));
  await until(() => said.includes("snapshot  demo: 1 range"), "the watch has begun");
  watching.kill("SIGINT");
  expect(await ended).toBe(0);
});

test("a node killed and started again has its ranges at once, and hands them over (laws 12, 13)", async () => {
  const at = ["--endpoints", server(1).grpc];
  expect((await cli("keyspace", "create", "restarts", ...at)).code).toBe(0);
  const dataDir = path.join(freshFolder(), "n1");
  const run = (): Running => start(BINARY, ["node", "run", "n1", "--data-dir", dataDir, ...at]);
  const first = run();
  await first.says("session open");
  expect((await cli("grant", "--keyspace", "restarts", "--all", "--to", "n1", ...at)).code).toBe(0);
  await first.says("serving    restarts");
  first.child.kill("SIGKILL");
  await first.ended;
  const second = run();
  await second.says("serving    restarts");
  expect(second.output()).toMatch(
    /registered as n1, incarnation \d+ in the place of \d+, which is/,
  );
  expect(second.output()).not.toContain("waiting");
  const other = start(BINARY, ["node", "run", "n2", "--data-dir", `${dataDir}-2`, ...at]);
  await other.says("session open");
  const asked = ["--keyspace", "restarts", "--all", "--to", "n2", "--hand-over"];
  expect((await cli("grant", ...asked, ...at)).code).toBe(0);
  await second.says("handed over");
  await other.says("serving    restarts");
  for (const node of [second, other]) {
    node.child.kill("SIGINT");
    expect((await node.ended).code).toBe(0);
  }
});

test("version asks a server, too", async () => {
  const { code, output } = await cli("version", "-o", "json", "--endpoints", server(1).grpc);
  const { client, server: serverVersion } = JSON.parse(output) as Record<string, string>;
  expect([code, serverVersion]).toEqual([0, client]);
  const none = await cli("version", "--endpoints", "127.0.0.1:1", "--timeout", "500ms");
  expect(none.code).toBe(0);
  expect(none.output).toMatch(/server {2}unknown \(.+\)\n/);
});

test("the survivor of three is alive, not ready with the reason, and ready again with a second", async () => {
  expect((await dev("kill", "2")).code).toBe(0);
  expect((await dev("kill", "3")).code).toBe(0);
  // The groups notice one after the other that their quorum is gone.
  const isUnready = async (): Promise<boolean> => {
    const { status, text } = await probe(1, "/readyz");
    return status === 503 && /group 0 (has no leader|last confirmed)/.test(text);
  };
  await until(isUnready, "server 1 is not ready, and says why");
  expect((await probe(1, "/livez")).status).toBe(200);
  const restart = await dev("restart", "2");
  expect(restart).toMatchObject({ code: 0 });
  await until(async () => (await probe(1, "/readyz")).status === 200, "server 1 is ready");
  expect((await dev("restart", "3")).code).toBe(0);
});

test("a second process on a server's data directory is refused, and harms nothing", async () => {
  const config = readFileSync(path.join(folder, "s1.yaml"), "utf8");
  const other = path.join(folder, "other.yaml");
  const free = await freeBasePort();
  const listen = (text: string, kind: string, port: number): string =>
    text.replace(new RegExp(`(listen:[^]*?${kind}: )\\S+`), `$1127.0.0.1:${port}`);
  writeFileSync(
    other,
    listen(listen(listen(config, "grpc", free), "peer", free + 1), "http", free + 2),
  );
  const second = start(BINARY, ["serve", "--config", other]);
  expect((await second.ended).code).toBe(1);
  expect(second.stderr().trimEnd().split("\n")).toHaveLength(1);
  expect(second.stderr()).toMatch(/^cadastre: .*(lock|another process|in use)/i);
  expect((await probe(1, "/readyz")).status).toBe(200);
});

test("Ctrl-C stops all in time; a second start goes on with the same data", async () => {
  const clusterId = readClusterFile(folder)?.cluster.id;
  const pids = [1, 2, 3].map((id) => server(id).pid);
  launcher.child.kill("SIGINT");
  const { value, ms } = await timed(launcher.ended);
  expect([value.code, ms < STOP_MS_MAX, pids.some(isAlive)]).toEqual([0, true, false]);
  expect(launcher.output()).not.toContain("was killed");
  expect(existsSync(path.join(folder, "cluster.json"))).toBe(false);

  launcher = start(BINARY, ["dev", "--data-dir", folder]);
  await until(() => launcher.output().includes("Ctrl-C stops the cluster"), "ready again", 60_000);
  expect(readClusterFile(folder)?.cluster.id).toBe(clusterId);
});

test("real servers end with their launcher when that is killed outright", async () => {
  const pids = [1, 2, 3].map((id) => server(id).pid);
  launcher.child.kill("SIGKILL");
  await until(() => !pids.some(isAlive), "the servers have ended", STOP_MS_MAX);
});
