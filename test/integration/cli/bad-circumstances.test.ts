// A server that cannot start, or take part: one line of cause and remedy, an exit code that is not
// 0 if it ends, and, once the cause is gone, a start with all the data.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/command-table.ts";
import { run } from "../../cli/run-cli.ts";
import { BINARY, freePorts } from "../support/real-cluster.ts";
import { cleanUp, freshFolder, start, until, type Running } from "./processes.ts";

const CLUSTER_ID = "0123456789abcdef0123456789abcdef";
/** No permission stops root, unless it gives that power up. */
const POWERLESS =
  process.getuid?.() === 0 ? { by: ["setpriv", "--bounding-set=-dac_override"] } : {};

let folder: string;
let configFile: string;
let ports: { readonly grpc: number; readonly peer: number; readonly http: number };

beforeEach(async () => {
  folder = freshFolder();
  const [grpc = 0, peer = 0, http = 0] = await freePorts(3);
  ports = { grpc, peer, http };
  configFile = path.join(folder, "server one.yaml");
  configure({});
});

afterEach(cleanUp);

function configure(changes: Readonly<Record<string, unknown>>): void {
  const address = (port: number): string => `127.0.0.1:${port}`;
  const { grpc, peer, http } = ports;
  const self = { id: 1, grpc: address(grpc), peer: address(peer), http: address(http) };
  const config = {
    server: { id: 1, dataDir: path.join(folder, "data of one") },
    cluster: { name: "test", id: CLUSTER_ID, servers: [self] },
    // The shortest elections that are allowed: these servers are alone.
    raft: { tickMs: 10, electionTimeoutTicksMin: 12, electionTimeoutTicksMax: 14 },
    ...changes,
  };
  writeFileSync(configFile, JSON.stringify(config));
}

const dataDir = (): string => path.join(folder, "data of one");
const serve = (options: Parameters<typeof start>[2] = {}): Running =>
  start(BINARY, ["serve", "--config", configFile], options);

async function running(): Promise<Running> {
  const server = serve();
  const isReady = async (): Promise<boolean> => {
    if (server.child.exitCode !== null) throw new Error(server.output());
    return fetch(`http://127.0.0.1:${ports.http}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until(isReady, "the server is ready");
  return server;
}

async function stopped(server: Running): Promise<void> {
  server.child.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);
}

async function cli(...args: string[]): Promise<string> {
  const ended = await run([...args, "--endpoints", `127.0.0.1:${ports.grpc}`], COMMANDS);
  expect(ended.stderr).toBe("");
  return ended.stdout;
}

/** A server that has held a keyspace and stands still. */
async function withData(): Promise<void> {
  const server = await running();
  await cli("keyspace", "create", "kept", "--split-at", "m");
  await stopped(server);
}

async function hasItsData(): Promise<void> {
  const server = await running();
  expect(await cli("keyspace", "list")).toContain("kept");
  expect((await cli("range", "list", "kept")).trimEnd().split("\n")).toHaveLength(3);
  await stopped(server);
}

/** Ends by itself with this code and one line. */
async function refused(server: Running, code: number, says: RegExp): Promise<void> {
  expect([(await server.ended).code, server.output()]).toEqual([code, expect.any(String)]);
  const lines = server.stderr().trimEnd().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^cadastre: .*[.?]$/);
  expect(lines[0]).toMatch(says);
}

test("a data directory in use is refused and the one that uses it goes on", async () => {
  await withData();
  const first = await running();
  const [grpc = 0, peer = 0, http = 0] = await freePorts(3);
  const elsewhere = { grpc: `127.0.0.1:${grpc}`, peer: `127.0.0.1:${peer}` };
  configure({ listen: { ...elsewhere, http: `127.0.0.1:${http}` } });
  await refused(serve(), 1, /data of one.* in use.*own/);
  expect(await cli("keyspace", "list")).toContain("kept");
  await stopped(first);
});

test("the directory of another cluster, or of another server, is refused and kept", async () => {
  await withData();
  const address = (port: number): string => `127.0.0.1:${port}`;
  const { grpc, peer, http } = ports;
  const self = { grpc: address(grpc), peer: address(peer), http: address(http) };
  configure({ cluster: { name: "test", id: "f".repeat(32), servers: [{ id: 1, ...self }] } });
  await refused(serve(), 1, /data of one.*cluster.*f{32}|f{32}.*data of one/);
  const two = { id: 2, dataDir: dataDir() };
  configure({
    server: two,
    cluster: { name: "test", id: CLUSTER_ID, servers: [{ id: 2, ...self }] },
  });
  await refused(serve(), 1, /data of one.*server.*own data directory/);
  configure({});
  await hasItsData();
});

/** It runs and takes no part; says why on one line, and to whoever asks. */
async function quarantined(server: Running, says: RegExp): Promise<void> {
  const isUp = (): boolean => server.output().includes("serverStarted");
  await until(() => isUp() || server.child.exitCode !== null, "it has started");
  const lines = server.output().split("\n");
  expect(lines.filter((line) => line.includes("quarantined"))).toHaveLength(1);
  expect(lines.find((line) => line.includes("quarantined"))).toMatch(says);
  const ready = await fetch(`http://127.0.0.1:${ports.http}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.text()).toMatch(says);
}

test("a flipped byte in the log is found, named, and harms nothing that is put back", async () => {
  await withData();
  const good = path.join(folder, "good");
  cpSync(dataDir(), good, { recursive: true });
  const store = path.join(dataDir(), "raft");
  const log = readdirSync(store).findLast((name) => name.endsWith(".log")) ?? "";
  const bytes = readFileSync(path.join(store, log));
  const at = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  writeFileSync(path.join(store, log), bytes);
  for (let start = 0; start < 2; start++) {
    const server = serve();
    await quarantined(server, /data of one.*damaged.*nothing was repaired/);
    await stopped(server);
  }
  cpSync(good, dataDir(), { recursive: true });
  await hasItsData();
});

test("a directory that cannot be written is refused, and one that cannot be made", async () => {
  await withData();
  const everything = readdirSync(dataDir(), { recursive: true, encoding: "utf8" });
  const paths = [dataDir(), ...everything.map((name) => path.join(dataDir(), name))];
  for (const one of paths) chmodSync(one, 0o555);
  await refused(serve(POWERLESS), 1, /no access to .*data of one.*Let|let/);
  for (const one of paths) chmodSync(one, 0o755);
  await hasItsData();
  const closed = path.join(folder, "closed");
  mkdirSync(closed, { mode: 0o555 });
  configure({ server: { id: 1, dataDir: path.join(closed, "data") } });
  await refused(serve(POWERLESS), 1, /closed/);
  writeFileSync(path.join(folder, "a file"), "");
  configure({ server: { id: 1, dataDir: path.join(folder, "a file") } });
  await refused(serve(), 1, /a file.*director/);
});

test("a busy port is named, with the setting that gives another", async () => {
  await withData();
  for (const kind of ["grpc", "peer", "http"] as const) {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(ports[kind], "127.0.0.1", resolve));
    const words = `127\\.0\\.0\\.1:${ports[kind]}: another process uses the port.*listen\\.${kind}`;
    await refused(serve(), 1, new RegExp(words));
    await new Promise((resolve) => taken.close(resolve));
  }
  await hasItsData();
});

test.each([
  ["an unknown key", { shrads: 2 }, /shrads: unknown key; did you mean shards\?/],
  ["a wrong type", { shards: "two" }, /shards: must be a whole number, not "two"/],
  ["this server missing", { server: { id: 7, dataDir: "d" } }, /must list this server, 7/],
  ["no data directory", { server: { id: 1 } }, /server\.dataDir: is missing; give it/],
])("a configuration with %s is refused with exit 2", async (_, changes, says) => {
  configure(changes);
  await refused(serve(), 2, says);
  expect(readdirSync(folder)).toEqual(["server one.yaml"]);
});

test("a Node that is too old is refused by the binary before anything else", async () => {
  const faked = path.join(folder, "fake-node.cjs");
  writeFileSync(faked, 'Object.defineProperty(process.versions, "node", { value: "18.19.0" });');
  const server = serve({ env: { NODE_OPTIONS: `--require "${faked}"` } });
  await refused(server, 1, /Node 18\.19\.0 is too old.*nvm install 20/);
});

test("a server has at least 16 threads in its pool, whatever its caller's environment", async () => {
  const server = serve({ env: { UV_THREADPOOL_SIZE: "" } });
  await until(() => server.output().includes("serverStarted"), "it has started");
  const tasks = readdirSync(`/proc/${server.pid}/task`);
  const names = tasks.map((task) =>
    readFileSync(`/proc/${server.pid}/task/${task}/comm`, "utf8").trim(),
  );
  expect(names.length).toBeGreaterThan(16);
  await stopped(server);
});
