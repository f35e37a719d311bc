/**
 * A large map through the real thing: 200,000 ranges by `cadastre import`, whole or not at all,
 * also when the leader is killed in the middle.
 */

import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Client } from "../../../src/client/client.ts";
import { generateMapLines } from "../../fixtures/generate-map.ts";
import { realClient } from "../support/clients.ts";
import { BINARY, RealCluster } from "../support/real-cluster.ts";

const RANGES = 200_000;
const SHARD = 1;

interface Line {
  readonly start: string | null;
  readonly end: string | null;
  readonly owner: string;
}

let cluster: RealCluster;
let client: Client;
let file: string;
const lines: Line[] = [];

beforeAll(async () => {
  cluster = await RealCluster.start(3);
  client = realClient(cluster.endpoints, "large-import");
  for (const line of generateMapLines({ ranges: RANGES, owners: 4, seed: 7 })) {
    lines.push(JSON.parse(line) as Line);
  }
  file = path.join(cluster.dir, "map with spaces.jsonl");
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
});

afterAll(async () => {
  client.close();
  await cluster.stop();
});

test("a generated map of 200,000 ranges is imported, and every range is where it was put", async () => {
  const { code, stderr } = await runImport("whole");
  expect(stderr).toContain("staged 200,000 of 200,000 ranges");
  expect(code).toBe(0);
  expect(await rangeCount("whole")).toBe(RANGES);
  for (let at = 0; at < RANGES; at += 9_973) await expectRoute("whole", lines[at]);
  await expectRoute("whole", lines.at(-1));
});

test("a leader that is killed during an import leaves the old map or the new one", async () => {
  let killing: Promise<void> | undefined;
  const { code, stderr } = await runImport("killed", (staged) => {
    if (staged < RANGES / 3) return;
    killing ??= killLeader();
  });
  await killing;
  const count = await rangeCount("killed");
  expect(killing, stderr).toBeDefined();
  if (code === 0) {
    expect(count).toBe(RANGES);
    await expectRoute("killed", lines[RANGES >> 1]);
  } else {
    expect(stderr).toContain("nothing changed");
    expect(count).toBe(1);
  }
});

async function killLeader(): Promise<void> {
  const leader = await cluster.leaderOf(SHARD);
  if (leader === undefined) throw new Error("there is no leader to kill");
  await cluster.kill(leader);
  await cluster.startServer(leader);
}

async function rangeCount(keyspace: string): Promise<number> {
  const { keyspaces } = await client.keyspaces.listKeyspaces({}, { deadlineMs: 20_000 });
  return keyspaces.find(({ name }) => name === keyspace)?.rangeCount ?? 0;
}

async function expectRoute(keyspace: string, line: Line | undefined): Promise<void> {
  const key = utf8ToBytes(line?.start ?? "");
  const { route } = await client.directory.lookup({ keyspace, key });
  expect(route.intendedNodeId).toBe(line?.owner);
  expect(route.descriptor.span.startKey).toEqual(key);
  const end = line?.end === null ? undefined : utf8ToBytes(line?.end ?? "");
  expect(route.descriptor.span.endKey).toEqual(end);
}

async function runImport(
  keyspace: string,
  onStaged: (rows: number) => void = () => {},
): Promise<{ code: number | null; stderr: string }> {
  const words = ["import", file, "--keyspace", keyspace, "--format", "jsonl", "--apply"];
  const endpoints = cluster.endpoints.join(",");
  const child = spawn(process.execPath, [BINARY, ...words, "--endpoints", endpoints], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    const last = [...stderr.matchAll(/staged ([\d,]+) of/g)].at(-1)?.[1];
    if (last !== undefined) onStaged(Number(last.replaceAll(",", "")));
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", (exitCode) => resolve(exitCode));
  });
  return { code, stderr };
}
