// Which servers a verb talks to when nobody says it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CliContext, CommandModule } from "../../src/cli/context.ts";
import {
  readClusterFile,
  writeClusterFile,
  type ClusterFile,
} from "../../src/cli/dev/cluster-file.ts";
import { processRef } from "../../src/cli/dev/processes.ts";
import {
  findEndpoints,
  findLocalCluster,
  givenEndpoints,
  noClusterError,
} from "../../src/cli/local-cluster.ts";
import { run } from "./run-cli.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "cadastre local "));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const SELF = processRef(process.pid);
/** Ids of processes that cannot be: above what the system gives. */
const NOBODY = { pid: 2 ** 22 + 1, startMark: "" };

function clusterAt(
  folder: string,
  process: typeof SELF,
  change: Partial<ClusterFile> = {},
): string {
  const data = path.join(folder, ".cadastre");
  mkdirSync(data, { recursive: true });
  const server = { id: 1, grpc: "127.0.0.1:1", peer: "127.0.0.1:2", http: "127.0.0.1:3" };
  const cluster = { id: "c", name: "dev" };
  const launcher = { ...NOBODY, control: "127.0.0.1:9", token: "t" };
  writeClusterFile(data, { servers: [{ ...server, ...process }], cluster, launcher, ...change });
  return data;
}

test("the nearest folder above with a running cluster is found", () => {
  const outer = clusterAt(root, SELF);
  const inside = path.join(root, "a", "b");
  mkdirSync(inside, { recursive: true });
  expect(findLocalCluster(inside, root)?.folder).toBe(outer);
  const nearer = clusterAt(path.join(root, "a"), SELF);
  expect(findLocalCluster(inside, root)?.folder).toBe(nearer);
});

test("a file that was left behind does not hide a running cluster further up", () => {
  const outer = clusterAt(root, SELF);
  const inside = path.join(root, "a");
  clusterAt(inside, NOBODY);
  expect(findLocalCluster(inside, root)?.folder).toBe(outer);
});

test("another process with the same id is not the server", () => {
  clusterAt(root, { pid: process.pid, startMark: "1" });
  expect(findLocalCluster(root, root)).toBeUndefined();
});

test("a server that is known to have ended does not count, a live launcher does", () => {
  const ended = { id: 1, grpc: "a:1", peer: "a:2", http: "a:3", ...SELF, ended: "SIGKILL" };
  clusterAt(root, SELF, { servers: [ended] });
  expect(findLocalCluster(root, root)).toBeUndefined();
  const launcher = { ...SELF, control: "127.0.0.1:9", token: "t" };
  clusterAt(root, SELF, { servers: [ended], launcher });
  expect(findLocalCluster(root, root)).toBeDefined();
});

test("the package's own folder is looked at last", () => {
  const elsewhere = path.join(root, "elsewhere");
  const own = clusterAt(path.join(root, "package"), SELF);
  expect(findLocalCluster(elsewhere, path.join(root, "package"))?.folder).toBe(own);
});

test("a file that somebody else wrote counts when it says what it must", () => {
  const folder = path.join(root, ".cadastre");
  mkdirSync(folder);
  const write = (value: unknown): void =>
    writeFileSync(path.join(folder, "cluster.json"), JSON.stringify(value));
  const server = { id: 2, grpc: "a:1", peer: "a:2", http: "a:3", pid: process.pid };
  write({ servers: [server] });
  expect(findLocalCluster(root, root)?.file.servers).toEqual([{ ...server, startMark: "" }]);
  for (const bad of [{}, { servers: [] }, { servers: [{ ...server, pid: "x" }] }, [], null]) {
    write(bad);
    expect(readClusterFile(folder)).toBeUndefined();
  }
  writeFileSync(path.join(folder, "cluster.json"), "{");
  expect(readClusterFile(folder)).toBeUndefined();
});

function endpointsVerb(look: (context: CliContext) => unknown): CommandModule {
  return {
    register(program, context) {
      program.command("look").action(() => {
        context.print({ json: () => null, text: () => JSON.stringify(look(context)) });
      });
    },
  };
}

test("the flag wins over the environment, that over the running cluster", async () => {
  clusterAt(root, SELF);
  const commands = [endpointsVerb(findEndpoints)];
  const env = { CADASTRE_ENDPOINTS: "e:1,f:2" };
  const flag = await run(["look", "--endpoints", "x:9"], commands, { env, cwd: root });
  expect(flag.stdout).toBe('["x:9"]\n');
  expect((await run(["look"], commands, { env, cwd: root })).stdout).toBe('["e:1","f:2"]\n');
  expect((await run(["look"], commands, { cwd: root })).stdout).toBe('["127.0.0.1:1"]\n');
});

test("that nothing runs is said in one line, with how to start a cluster", () => {
  expect(noClusterError("no cluster runs here, and no servers were given")).toMatchObject({
    exit: 5,
    remedy: expect.stringMatching(/`npm start`.*--endpoints host:port/) as string,
  });
});

test("an unusable variable is a mistake that names it", async () => {
  const commands = [endpointsVerb(givenEndpoints)];
  const { exitCode, stderr } = await run(["look"], commands, { env: { CADASTRE_ENDPOINTS: "x" } });
  expect([exitCode, stderr]).toEqual([2, 'cadastre: CADASTRE_ENDPOINTS: "x" is not host:port.\n']);
});
