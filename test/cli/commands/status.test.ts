// `cadastre status`: one screen, also with dead servers.
import { expect, test } from "vitest";
import type { ServerId } from "../../../src/base/brands.ts";
import { ok } from "../../../src/base/result.ts";
import { FakeDirectory } from "./fake-directory.ts";
import { runVerb } from "./run-verb.ts";

function demo(): FakeDirectory {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo", ["g"]);
  fake.addNode("n1");
  fake.addNode("n2", { sessionOpen: false });
  return fake;
}

/** Its status, but as one of three servers of which it alone answers. */
function withThreeServers(fake: FakeDirectory): void {
  const alone = fake.status();
  const servers = [1, 2, 3].map((id) => ({
    serverId: id as ServerId,
    grpcAddress: `s${id}:1`,
    peerAddress: "",
    httpAddress: "",
    reachable: id === 1,
  }));
  const groups = alone.groups.map((group) => ({
    ...group,
    role: "follower" as const,
    leaderServerId: undefined,
  }));
  fake.services.cluster.getStatus = () => Promise.resolve(ok({ ...alone, servers, groups }));
}

test("the screen of a healthy server", async () => {
  const run = await runVerb(demo(), ["status"]);
  expect(run).toMatchObject({ exit: 0, err: "" });
  expect(run.out).toBe(
    [
      "healthy: 1 of 1 server answers; it cannot lose another server",
      "cluster test (c1), version 0.1.0",
      "",
      "GROUP    LEADER    TERM  COMMIT  APPLIED  REPLICAS",
      "0 root   server 1     3     102      102  1 of 1, quorum 1",
      "1 shard  server 1     3     102      102  1 of 1, quorum 1",
      "",
      "SERVER  ADDRESS  ROLE        LAG     UP  ANSWER",
      "1       s1:1     leads 0, 1    0  1m 5s  ok, 0ms",
      "",
      "KEYSPACE  RANGES  UNOWNED",
      "demo           2        2",
      "",
      "2 storage nodes, 1 without a session",
      "",
    ].join("\n"),
  );
});

test("dead servers are rows with their error, and without a quorum the exit is 7", async () => {
  const fake = demo();
  withThreeServers(fake);
  const run = await runVerb(fake, ["status"]);
  expect(run.exit).toBe(7);
  expect(run.out).toContain(
    "no quorum: 1 of 3 servers answers; nothing is changed or answered but local reads",
  );
  expect(run.out).toContain(
    "2       s2:1     -           -      -  ERROR s2:1 refuses connections",
  );
  expect(run.out).toContain("keyspaces unknown: it serves nobody");
  expect(run.err).toBe("");
});

test("a server that takes no part says why on its row (law 30)", async () => {
  const fake = demo();
  const abstention = { reason: "regressed", details: "it fell back; keep its folder" };
  const status = { ...fake.status(), abstention };
  fake.services.cluster.getStatus = () => Promise.resolve(ok(status));
  const run = await runVerb(fake, ["status"]);
  expect(run.out).toContain(
    "1       s1:1     none    0  1m 5s  TAKES NO PART, regressed: it fell back; keep its folder",
  );
  const json = await runVerb(fake, ["status", "-o", "json"]);
  expect(json.json()).toMatchObject({
    servers: [{ serverId: 1, abstention: "regressed: it fell back; keep its folder" }],
  });
});

test("when nobody answers, the screen says why, with exit 7", async () => {
  const run = await runVerb(demo(), ["status"], { servers: {}, endpoints: ["s8:1", "s9:1"] });
  expect(run.exit).toBe(7);
  expect(run.out).toContain("no quorum: 0 of 2 servers answer");
  expect(run.out).toContain("s9:1 refuses connections");
});

test("JSON has every part, and null for what is not known", async () => {
  const run = await runVerb(demo(), ["status", "-o", "json"]);
  expect(run.json()).toMatchObject({
    verdict: "healthy",
    canLose: 0,
    groups: [{ group: 0, leaderServerId: 1, term: "3", commitIndex: "102" }, { group: 1 }],
    servers: [{ serverId: 1, reachable: true, error: null, appliedLag: "0" }],
    keyspaces: [{ name: "demo", rangeCount: "2", unownedCount: "2" }],
    nodeCount: 2,
    nodesWithoutSession: 1,
    contentsError: null,
  });
  const dead = await runVerb(demo(), ["status", "-o", "json"], {
    servers: {},
    endpoints: ["s9:1"],
  });
  expect(dead.json()).toMatchObject({ verdict: "noQuorum", keyspaces: null, clusterId: null });
});
