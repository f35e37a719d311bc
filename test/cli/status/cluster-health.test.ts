// The verdict on a cluster from what its servers answer, and from what they don't.
import { expect, test } from "vitest";
import type { GroupId, Revision, ServerId, Term } from "../../../src/base/brands.ts";
import {
  clusterHealth,
  type ServerAnswer,
  unaskedAddresses,
} from "../../../src/cli/status/cluster-health.ts";
import type { GroupStatus } from "../../../src/wire/api.ts";

interface View {
  readonly role?: GroupStatus["role"];
  readonly term?: number;
  readonly leader?: number;
  readonly applied?: number;
  readonly reaches?: readonly number[];
  /** Why it takes no part. */
  readonly abstains?: string;
}

const SERVERS = [1, 2, 3];

/** What server `id` of three answers, for one group. */
function answer(id: number, view: View = {}): ServerAnswer {
  const { role = "follower", term = 5, leader, applied = 100, reaches = SERVERS } = view;
  const { abstains } = view;
  const abstention = abstains === undefined ? undefined : { reason: abstains, details: "why" };
  const serverId = id as ServerId;
  const replicaIds = role === "leader" ? SERVERS : [id];
  const group: GroupStatus = {
    group: 0 as GroupId,
    role,
    term: term as Term,
    leaderServerId: leader as ServerId | undefined,
    commitIndex: 100,
    appliedIndex: applied,
    lastIndex: 100,
    revision: applied as Revision,
    logEntries: 100,
    logBytes: 3_200,
    snapshotIndex: 0,
    replicas: replicaIds.map((one) => ({
      serverId: one as ServerId,
      replicaId: one,
      matchIndex: 100,
    })),
  };
  return {
    address: `s${id}:1`,
    elapsedMs: 2,
    error: undefined,
    status: {
      header: {
        clusterId: "c1",
        group: 0 as GroupId,
        generation: 0,
        revision: applied as Revision,
        serverId,
        leaderServerId: leader as ServerId | undefined,
        term: term as Term,
      },
      clusterName: "test",
      productVersion: "1",
      uptimeMs: 1_000,
      servers: SERVERS.map((one) => ({
        serverId: one as ServerId,
        grpcAddress: `s${one}:1`,
        peerAddress: "",
        httpAddress: "",
        reachable: reaches.includes(one),
      })),
      groups: [group],
      abstention,
    },
  };
}

function dead(id: number): ServerAnswer {
  return { address: `s${id}:1`, elapsedMs: 1_000, status: undefined, error: "refused" };
}

const LEADER = answer(1, { role: "leader", leader: 1 });

test("three of three: healthy, one may be lost", () => {
  const health = clusterHealth([LEADER, answer(2, { leader: 1 }), answer(3, { leader: 1 })]);
  expect(health).toMatchObject({ verdict: "healthy", canLose: 1, answering: 3, serverCount: 3 });
  expect(health.groups).toMatchObject([
    { leaderServerId: 1, replicas: 3, aliveReplicas: 3, quorum: 2 },
  ]);
});

test("two of three: degraded, none may be lost, and the dead one is a row with its error", () => {
  const leader = answer(1, { role: "leader", leader: 1, reaches: [1, 2] });
  const health = clusterHealth([leader, answer(2, { leader: 1 }), dead(3)]);
  expect(health).toMatchObject({ verdict: "degraded", canLose: 0, answering: 2 });
  expect(health.servers[2]).toMatchObject({ serverId: 3, address: "s3:1", error: "refused" });
});

test("a server that does not answer here, but is reached by the leader, counts as alive", () => {
  const health = clusterHealth([LEADER, dead(2), dead(3)]);
  expect(health).toMatchObject({ verdict: "degraded", canLose: 1 });
});

test("one of three: no quorum, whatever it still believes of its leader", () => {
  const alone = answer(2, { leader: 1, reaches: [2] });
  const health = clusterHealth([dead(1), alone, dead(3)]);
  expect(health).toMatchObject({ verdict: "noQuorum", canLose: 0, serverCount: 3, answering: 1 });
  expect(health.groups[0]).toMatchObject({ leaderServerId: undefined, replicas: 3 });
});

test("a majority without a leader is an election, not a lost quorum", () => {
  const candidates = [answer(1, { role: "candidate", term: 6 }), answer(2), dead(3)];
  expect(clusterHealth(candidates).verdict).toBe("noLeader");
});

test("of two that call themselves leader, the one of the higher term leads", () => {
  const old = answer(1, { role: "leader", leader: 1, term: 5 });
  const present = answer(2, { role: "leader", leader: 2, term: 6 });
  const health = clusterHealth([old, present, answer(3, { leader: 2, term: 6 })]);
  expect(health.groups[0]).toMatchObject({ leaderServerId: 2, term: 6 });
});

test("a server that is far behind degrades the cluster, and its lag is counted in entries", () => {
  const behind = { ...answer(3, { leader: 1, applied: 40 }) };
  const slightly = clusterHealth([LEADER, answer(2, { leader: 1 }), behind]);
  expect(slightly.verdict).toBe("healthy");
  expect(slightly.servers.map(({ appliedLag }) => appliedLag)).toEqual([0, 0, 60]);
});

test("nobody answers: no quorum, and every address keeps its error", () => {
  const health = clusterHealth([dead(1), dead(2)]);
  expect(health).toMatchObject({ verdict: "noQuorum", canLose: 0, answering: 0, serverCount: 2 });
  expect(health.servers.map(({ serverId }) => serverId)).toEqual([undefined, undefined]);
});

test("servers that an answer names are asked, too, unless they were or have answered", () => {
  expect(unaskedAddresses([LEADER])).toEqual(["s2:1", "s3:1"]);
  expect(unaskedAddresses([LEADER, dead(2)])).toEqual(["s3:1"]);
  const sameByAnotherName = { ...answer(2, { leader: 1 }), address: "localhost:2" };
  expect(unaskedAddresses([LEADER, sameByAnotherName])).toEqual(["s3:1"]);
});

test("a server that takes no part is named, and counts for no group (law 30)", () => {
  const idle = answer(3, { role: "leader", term: 9, leader: 3, abstains: "regressed" });
  const health = clusterHealth([LEADER, answer(2, { leader: 1 }), idle]);
  expect(health.verdict).toBe("degraded");
  expect(health.canLose).toBe(0);
  expect(health.groups).toMatchObject([{ leaderServerId: 1, term: 5, aliveReplicas: 2 }]);
  expect(health.servers[2]).toMatchObject({
    serverId: 3,
    abstention: "regressed: why",
    leads: [],
    appliedLag: 0,
  });
});
