/**
 * Servers whose store cannot be trusted, as real processes (law 30, B14): each starts, says so by
 * name, and takes no part, while the others go on; and a new server waits until all have met it.
 */

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { grpcChannel } from "../../../src/client/grpc/grpc-channel.ts";
import { realClient } from "../support/clients.ts";
import { BINARY, RealCluster, until } from "../support/real-cluster.ts";

let cluster: RealCluster;

afterEach(async () => {
  await cluster.stop();
});

interface Status {
  readonly abstention: { readonly reason: string; readonly details: string } | null;
  readonly groups: readonly { readonly role: string; readonly term: string }[];
}

/** What a server says of itself over HTTP. */
async function statusOf(id: number): Promise<Status | undefined> {
  const response = await cluster.get(id, "/v1/status");
  return response?.ok === true ? ((await response.json()) as Status) : undefined;
}

async function waitForReason(id: number, reason: string): Promise<string> {
  await until(async () => (await statusOf(id))?.abstention?.reason === reason, 30_000);
  return (await statusOf(id))?.abstention?.details ?? "";
}

let made = 0;

/** A change that needs a quorum. */
async function change(): Promise<void> {
  const client = realClient(cluster.endpoints, `quarantine-${++made}`);
  const kind = { kind: "range", hashFunction: undefined, leaseMode: "exclusive" } as const;
  const lease = { leaseDurationMs: 10_000, renewIntervalMs: 3_000 } as const;
  try {
    await client.keyspaces.createKeyspace({
      name: `k${made}`,
      ...kind,
      dataKind: "none",
      ...lease,
    });
  } finally {
    client.close();
  }
}

/** Everything that tells of a server that takes no part, and that it takes none. */
async function expectQuarantined(id: number, reason: string): Promise<string> {
  const details = await waitForReason(id, reason);
  const ready = await cluster.get(id, "/readyz");
  expect(ready?.status).toBe(503);
  expect(await ready?.text()).toContain(`takes-part`);
  expect((await cluster.get(id, "/livez"))?.status).toBe(200);
  const { grpc } = cluster.servers[id - 1] ?? expect.fail("no such server");
  const channel = grpcChannel(grpc);
  const context = { timeoutMs: 5_000 };
  const refused = await channel.services.keyspaces.listKeyspaces(
    { pageSize: 1, pageToken: "" },
    context,
  );
  expect(refused).toMatchObject({
    ok: false,
    error: { reason: "TRANSIENT", metadata: { cause: reason } },
  });
  const status = await channel.services.cluster.getStatus({}, context);
  expect(status).toMatchObject({ ok: true, value: { abstention: { reason } } });
  channel.close();
  const lines = cluster.output.join("").split("\n");
  const line = lines.find((one) => one.includes("quarantined") && one.includes(reason));
  expect(line).toContain(details.slice(0, 40));
  const args = [BINARY, "status", "--endpoints", cluster.endpoints.join(","), "-o", "json"];
  const shown = execFileSync(process.execPath, args, { encoding: "utf8" });
  expect(JSON.parse(shown)).toMatchObject({
    verdict: "degraded",
    canLose: 0,
    servers: [1, 2, 3].map((serverId) =>
      serverId === id
        ? { serverId, abstention: expect.stringContaining(reason) as string }
        : { serverId, abstention: null },
    ),
  });
  await change();
  return details;
}

function raftFile(id: number, name: RegExp): string {
  const folder = join(cluster.dataDir(id), "raft");
  const file = readdirSync(folder).find((one) => name.test(one));
  return join(folder, file ?? expect.fail(`no file ${name.source}`));
}

test("a server whose log was damaged starts, says so, and takes no part", async () => {
  cluster = await RealCluster.start(3);
  await change();
  await cluster.kill(3);
  const path = raftFile(3, /\.log$/);
  const content = readFileSync(path);
  content[60] = (content[60] ?? 0) ^ 0x10;
  writeFileSync(path, content);
  await cluster.startServer(3);
  const details = await expectQuarantined(3, "damaged");
  expect(details).toMatch(/wrong checksum .*: nothing was repaired; /);
  expect(readFileSync(path)).toEqual(content);
});

test("a server whose log store is gone does not begin anew", async () => {
  cluster = await RealCluster.start(3);
  await cluster.kill(2);
  rmSync(join(cluster.dataDir(2), "raft"), { recursive: true });
  await cluster.startServer(2);
  await expectQuarantined(2, "missing");
  expect(existsSync(join(cluster.dataDir(2), "raft"))).toBe(false);
});

test("a log store that was put back to an older image is regressed", async () => {
  cluster = await RealCluster.start(3);
  await cluster.kill(3);
  const raft = join(cluster.dataDir(3), "raft");
  cpSync(raft, `${raft}-image`, { recursive: true });
  await cluster.startServer(3);
  await cluster.waitReady();
  await change();
  // What was acknowledged is in the second record a second later.
  await until(async () => (await statusOf(3)) !== undefined);
  cluster.signal(3, "SIGTERM");
  await until(() => !cluster.isRunning(3));
  rmSync(raft, { recursive: true });
  cpSync(`${raft}-image`, raft, { recursive: true });
  await cluster.startServer(3);
  expect(await expectQuarantined(3, "regressed")).toMatch(/fell back: group \d acknowledged/);
});

test("a data directory that was put back as a whole is disowned by those who saw more", async () => {
  cluster = await RealCluster.start(3);
  await cluster.kill(3);
  const dir = cluster.dataDir(3);
  cpSync(dir, `${dir}-image`, { recursive: true });
  await cluster.startServer(3);
  await cluster.waitReady();
  await change();
  await cluster.kill(3);
  rmSync(dir, { recursive: true });
  cpSync(`${dir}-image`, dir, { recursive: true });
  await cluster.startServer(3);
  expect(await expectQuarantined(3, "disowned")).toMatch(/saw this server acknowledge/);
  // The others may forget what they saw; the directory does not.
  for (const id of [1, 2, 3]) await cluster.kill(id);
  for (const id of [1, 2, 3]) await cluster.startServer(id);
  await cluster.waitReady([1, 2]);
  expect(await waitForReason(3, "disowned")).toMatch(/saw this server acknowledge/);
});

test("a server that lost its data directory is kept out under its old id, also by peers that restarted", async () => {
  cluster = await RealCluster.start(3);
  await change();
  for (const id of [1, 2, 3]) await cluster.kill(id);
  rmSync(cluster.dataDir(3), { recursive: true });
  await cluster.startServer(3);
  expect(await waitForReason(3, "notAdmitted")).toMatch(/start server 1 and server 2/);
  await cluster.startServer(1);
  await waitForReason(3, "disowned");
  await cluster.startServer(2);
  await cluster.waitReady([1, 2]);
  expect(await expectQuarantined(3, "disowned")).toMatch(/known here with another data directory/);
});

test("new servers take part when all have met, and from then on without any of them", async () => {
  cluster = await RealCluster.prepare(3);
  for (const id of [1, 2]) await cluster.startServer(id);
  const waitsFor3 = async (id: number): Promise<boolean> =>
    (await statusOf(id))?.abstention?.details.endsWith("; start server 3") === true;
  for (const id of [1, 2]) {
    await until(() => waitsFor3(id));
    expect((await cluster.get(id, "/readyz"))?.status).toBe(503);
    expect((await statusOf(id))?.groups).toMatchObject([
      { role: "follower", term: "0" },
      { role: "follower", term: "0" },
    ]);
  }
  await cluster.startServer(3);
  await cluster.waitReady();
  await change();
  for (const id of [1, 2, 3]) await cluster.kill(id);
  for (const id of [2, 3]) await cluster.startServer(id);
  await cluster.waitReady([2, 3]);
  await change();
});
