// The parts of the development cluster that need no processes.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { writeClusterFile } from "../../src/cli/dev/cluster-file.ts";
import {
  claimFolder,
  emptyFolder,
  settleMarker,
  writeServerConfigs,
} from "../../src/cli/dev/folder.ts";
import { LineSplitter } from "../../src/cli/dev/line-splitter.ts";
import { lockFolder } from "../../src/cli/dev/lock.ts";
import { checkPortsFree, serverAddresses } from "../../src/cli/dev/ports.ts";
import { isPaused, isRunning, processRef } from "../../src/cli/dev/processes.ts";
import { commandWords, readyWords } from "../../src/cli/dev/ready-words.ts";
import { createVoice } from "../../src/cli/dev/voice.ts";
import { loadConfig } from "../../src/server/config/load.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "cadastre dev "));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WISHES = { basePort: undefined, servers: undefined };

test("a second start keeps the cluster's id, size and ports", () => {
  const first = settleMarker(folder, { basePort: 8000, servers: 5 });
  expect(first.clusterId).toMatch(/^[0-9a-f]{32}$/);
  expect(settleMarker(folder, WISHES)).toEqual(first);
});

test("without wishes there are three servers from port 7400", () => {
  expect(settleMarker(folder, WISHES)).toMatchObject({ basePort: 7400, servers: 3 });
});

test("ports may change, the number of servers may not", () => {
  const first = settleMarker(folder, WISHES);
  const moved = settleMarker(folder, { basePort: 9000, servers: 3 });
  expect(moved).toEqual({ ...first, basePort: 9000 });
  expect(() => settleMarker(folder, { basePort: undefined, servers: 1 })).toThrow(
    "holds a cluster of 3 servers, not 1",
  );
});

test("a folder with something else in it is refused, an empty or missing one is not", () => {
  claimFolder(path.join(folder, "new", "deep"));
  writeFileSync(path.join(folder, "thesis.txt"), "years of work");
  expect(() => claimFolder(folder)).toThrow("is not the folder of a development cluster");
  expect(() => claimFolder(path.join(folder, "thesis.txt"))).toThrow("cannot make the folder");
});

test("emptying deletes what the cluster made and nothing else", () => {
  const marker = settleMarker(folder, WISHES);
  writeServerConfigs(folder, marker, "pretty");
  for (const name of ["s1", "s2", "s0", "src"]) mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, "s1", "000001.log"), "x");
  writeFileSync(path.join(folder, "notes.txt"), "x");
  emptyFolder(folder);
  expect(readdirSync(folder).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    "notes.txt",
    "s0",
    "src",
  ]);
});

test("a marker that cannot be understood is not overwritten", () => {
  writeFileSync(path.join(folder, "dev-cluster.json"), '{"format": 2}');
  expect(() => settleMarker(folder, WISHES)).toThrow("cannot be understood");
});

test("the configuration files are complete for the server's own loader", () => {
  const marker = settleMarker(folder, { basePort: 8000, servers: 3 });
  const files = writeServerConfigs(folder, marker, "json");
  const text = readFileSync(files[1] ?? "", "utf8");
  const loaded = loadConfig({ file: { name: "s2", text }, env: {}, flags: {} });
  expect(loaded.ok && loaded.value.warnings).toEqual([]);
  expect(loaded.ok && loaded.value.config).toMatchObject({
    server: { id: 2, dataDir: path.join(folder, "s2") },
    listen: { grpc: "127.0.0.1:8010", peer: "127.0.0.1:8011", http: "127.0.0.1:8012" },
    cluster: { id: marker.clusterId, isIdGiven: true, name: "dev" },
    log: { format: "json" },
  });
  expect(parse(text)).toMatchObject({ cluster: { id: marker.clusterId } });
});

test("cluster.json is whole and for its owner only", () => {
  writeClusterFile(folder, { servers: [], cluster: { id: "c", name: "n" }, launcher: undefined });
  expect(readdirSync(folder)).toEqual(["cluster.json"]);
  expect(statSync(path.join(folder, "cluster.json")).mode & 0o777).toBe(0o600);
});

test("a busy port is named with its purpose", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const [server] = serverAddresses({ basePort: port - 1, servers: 1 });
  if (server === undefined) throw new Error("one server has addresses");
  const grpc = "127.0.0.1:0";
  await expect(checkPortsFree([{ ...server, grpc }])).rejects.toMatchObject({
    message: `port ${port} (peer of server 1) is used by another process`,
  });
  await new Promise((resolve) => taken.close(resolve));
  await expect(checkPortsFree([{ ...server, grpc, http: grpc }])).resolves.toBeUndefined();
});

test("ports above the last one are refused before anything starts", async () => {
  await expect(
    checkPortsFree([{ id: 3, grpc: "127.0.0.1:65536", peer: "h:1", http: "h:2" }]),
  ).rejects.toThrow("port 65536 of server 3 is above 65535");
});

test("one launcher holds a folder; a lock whose process is gone is taken over", () => {
  const unlock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(
    `already runs in ${folder} (launcher pid ${process.pid})`,
  );
  unlock();
  writeFileSync(path.join(folder, "launcher.lock"), JSON.stringify({ pid: 2 ** 22 + 1 }));
  lockFolder(folder)();
  writeFileSync(
    path.join(folder, "launcher.lock"),
    JSON.stringify({ pid: process.pid, startMark: "not this process" }),
  );
  lockFolder(folder)();
  writeFileSync(path.join(folder, "launcher.lock"), "torn{");
  lockFolder(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test("a process is known by its id and when it started", () => {
  const self = processRef(process.pid);
  expect([isRunning(self), isPaused(process.pid)]).toEqual([true, false]);
  expect(isRunning({ ...self, startMark: "another" })).toBe(false);
  for (const pid of [0, -1, 2 ** 22 + 1, 1.5])
    expect(isRunning({ pid, startMark: "" })).toBe(false);
});

test("lines of a stream stay whole, however they arrive", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const part of ["a", "b\nc\r\n", "\nd", "e"]) splitter.push(part);
  splitter.end();
  splitter.end();
  expect(lines).toEqual(["ab", "c", "", "de"]);
});

test("a line without end is handed on in pieces", () => {
  const lengths: number[] = [];
  const splitter = new LineSplitter((line) => lengths.push(line.length));
  for (let part = 0; part < 5; part++) splitter.push("x".repeat(20_000));
  expect(lengths).toEqual([80_000]);
});

test("what is printed when ready has addresses, folder, pids and three commands", () => {
  const words = readyWords({
    name: "dev",
    folder: "/data dir",
    servers: [{ id: 1, grpc: "h:1", peer: "h:2", http: "h:3", pid: 42, startMark: "" }],
    tookMs: 1_234,
    command: "npx cadastre",
    endpointsFlag: " --endpoints h:1",
  });
  expect(words.split("\n")).toEqual([
    'cluster "dev" is ready: 1 server in 1.2 s',
    "  s1  grpc h:1  peer h:2  http http://h:3  pid 42",
    "  data  /data dir",
    "Try in another terminal:",
    "  npx cadastre status --endpoints h:1",
    "  npx cadastre keyspace create demo --endpoints h:1",
    "  npx cadastre watch --endpoints h:1",
    "Ctrl-C stops the cluster; the data stay.",
  ]);
});

test("commands are written as they can be run from where the user is", () => {
  expect(commandWords({ script: "/usr/bin/cadastre", cwd: folder })).toBe("cadastre");
  expect(commandWords({ script: "x.cjs", cwd: process.cwd() })).toBe("npx cadastre");
  expect(commandWords({ script: "x.cjs", cwd: folder })).toMatch(
    /^node .*src\/cli\/cadastre\.cjs'?$/,
  );
});

test("with JSON logs the launcher speaks JSON, too", () => {
  const lines: string[] = [];
  const sink = { write: (text: string) => void lines.push(text), columns: undefined };
  createVoice(sink, "json").say("ready", "all is well", { pids: [1] });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ server: "dev", event: "ready", pids: [1] });
  createVoice(sink, "pretty").say("ready", "all is well", { pids: [1] });
  expect(lines[1]).toBe("cadastre: all is well\n");
});
