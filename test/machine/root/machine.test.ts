/** The root: the cluster's identity, keyspaces and the coarse map, storage nodes (laws 13, 27). */

import { expect, test } from "vitest";
import type { Incarnation, LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { RootCommand, RootRequest } from "../../../src/machine/root/commands.ts";
import type { ProcessStart } from "../../../src/machine/root/types.ts";
import { KEYSPACES_MAX, RootMachine } from "../../../src/machine/root/machine.ts";
import { CLUSTER, RootHarness, type RootStep } from "./harness.ts";
import { randomCommand } from "./random-commands.ts";

function reasonOf({ result }: RootStep): string {
  return result.kind === "refused" ? result.reason : result.kind;
}

test("the cluster is initialised once; a repeat, even with other words, changes nothing", () => {
  const root = new RootHarness();
  expect(root.init().events.map(({ kind }) => kind)).toEqual(["clusterInitialised"]);
  const again = root.apply({ kind: "initCluster", cluster: { ...CLUSTER, clusterId: "other" } });
  expect(again).toMatchObject({ result: { kind: "done" }, events: [] });
  expect(root.machine.state.cluster).toBe(CLUSTER);
});

test("a keyspace is recorded as creating in its shard, then marked ready, once", () => {
  const root = new RootHarness();
  expect(reasonOf(root.create("orders"))).toBe("clusterNotInitialised");
  root.init();
  const { result, revision } = root.create("orders", 2);
  expect(result).toMatchObject({
    keyspace: { keyspaceId: 1, state: "creating", createdRevision: revision },
  });
  expect(root.machine.state.keyspaces.get(1)?.spans).toEqual([
    { startKey: new Uint8Array(0), endKey: undefined, group: 2 },
  ]);
  const ready = { kind: "markKeyspaceReady", keyspaceId: 1 } as const;
  expect(root.apply(ready).events).toHaveLength(1);
  expect(root.apply(ready)).toMatchObject({ result: { kind: "done" }, events: [] });
  expect(root.machine.state.keyspaces.get(1)?.state).toBe("ready");
  expect(reasonOf(root.apply({ kind: "markKeyspaceReady", keyspaceId: 2 }))).toBe(
    "keyspaceNotFound",
  );
});

test("a refused creation uses up no id, and names are taken once", () => {
  const root = new RootHarness();
  root.init();
  root.create("orders");
  expect(reasonOf(root.create("orders"))).toBe("keyspaceExists");
  expect(reasonOf(root.create("users", 9))).toBe("groupNotFound");
  expect(root.create("users").result).toMatchObject({ keyspace: { keyspaceId: 2 } });
});

test("a cluster has as many keyspaces as every client can hold, and no more (law 27)", () => {
  const root = new RootHarness();
  root.init();
  for (let at = 0; at < KEYSPACES_MAX; at++) root.create(`k${at}`);
  expect(reasonOf(root.create("more"))).toBe("tooManyKeyspaces");
  expect(root.machine.state.keyspaces.size).toBe(KEYSPACES_MAX);
});

test("each registration is a new incarnation: the revision of its entry (law 13)", () => {
  const root = new RootHarness();
  const first = root.register("a");
  const second = root.register("a");
  expect(first.result).toMatchObject({ node: { incarnation: first.revision } });
  expect(second.result).toMatchObject({ node: { incarnation: second.revision } });
  expect(second.revision).toBeGreaterThan(first.revision);
});

test("a node id is bound to its data directory: another uuid is refused by name (law 13)", () => {
  const root = new RootHarness();
  root.register("a");
  const before = root.machine.state.nodes.get("a");
  const refused = root.register("a", "other");
  expect(refused).toMatchObject({
    result: { reason: "nodeIdTaken", subject: "a" },
    events: [],
  });
  expect(root.machine.state.nodes.get("a")).toBe(before);
});

const START = { bootId: "boot", lockFile: "8:77", startCount: 3 };

test("a registration is proven by the same boot, the same locked file and the next count (law 13)", () => {
  const cases: [what: string, now: Partial<ProcessStart> | undefined, isProven: boolean][] = [
    ["all of them", {}, true],
    ["another boot", { bootId: "other" }, false],
    ["another file", { lockFile: "8:78" }, false],
    ["the same count", { startCount: 3 }, false],
    ["a count between that never registered", { startCount: 5 }, false],
    ["an earlier count", { startCount: 2 }, false],
    ["nothing stated", undefined, false],
  ];
  for (const [what, now, isProven] of cases) {
    const root = new RootHarness();
    const first = root.register("a", "u", START);
    root.register("b", "v", { ...START, startCount: 9 });
    const next = now === undefined ? undefined : { ...START, startCount: 4, ...now };
    const second = root.register("a", "u", next);
    const { predecessor, provenSince } = root.node("a");
    expect(predecessor, what).toBe(first.revision);
    expect(provenSince, what).toBe(isProven ? first.revision : second.revision);
  }
});

test("a registration after one that stated nothing proves nothing, nor does the first (law 13)", () => {
  const root = new RootHarness();
  const first = root.register("a", "u", undefined);
  expect(root.node("a")).toMatchObject({ predecessor: 0, provenSince: first.revision });
  const second = root.register("a", "u", START);
  expect(root.node("a").provenSince).toBe(second.revision);
});

test("proofs in a row reach back to the last registration without one (law 13)", () => {
  const root = new RootHarness();
  root.register("a", "u", START);
  const unproven = root.register("a", "u", { ...START, bootId: "after a crash", startCount: 4 });
  for (const startCount of [5, 6, 7]) {
    root.register("a", "u", { ...START, bootId: "after a crash", startCount });
    expect(root.node("a").provenSince).toBe(unproven.revision);
  }
  const broken = root.register("a", "u", { ...START, bootId: "after a crash", startCount: 9 });
  expect(root.node("a").provenSince).toBe(broken.revision);
});

test("a registration that is repeated with its request id is not a second incarnation (law 5)", () => {
  const root = new RootHarness();
  const command: RootCommand = {
    kind: "registerNode",
    nodeId: "a",
    dataUuid: "u",
    start: undefined,
    addresses: [],
    zone: "",
    labels: [],
    capacity: 0,
  };
  const requestId = {
    clientId: "a-process",
    sequence: 1,
    seenRevision: 0 as Revision,
    acknowledgedBelow: 0,
  };
  const first = root.apply(command, requestId);
  root.noop();
  const repeat = root.apply(command, requestId);
  expect(repeat.answer).toEqual({ ...first.answer, replayed: true });
  expect(root.machine.state.nodes.get("a")?.incarnation).toBe(first.revision);
  const reused = root.apply({ ...command, zone: "other" }, requestId);
  expect(reasonOf(reused)).toBe("requestIdReused");
});

test("a generation lifts every revision and incarnation above the earlier ones (law 2)", () => {
  const root = new RootHarness(3);
  const { revision, result } = root.register("a");
  expect(revision).toBe(3 * 2 ** 44 + 1);
  expect(result).toMatchObject({ node: { incarnation: revision as number as Incarnation } });
});

test("nothing at the root is ever due", () => {
  const root = new RootHarness();
  root.init();
  root.register("a");
  expect(root.machine.nextDueMs()).toBeUndefined();
  expect(root.machine.expireRequest()).toBeUndefined();
});

test("random entries keep every invariant, and replaying them gives the same answers", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) runSeed(seed, seen);
  const wanted = ["done", "keyspaceRecorded", "proven", "unproven", "replayed", "keyspaceExists"];
  const refusals = ["nodeIdTaken", "groupNotFound", "keyspaceNotFound", "requestIdExpired"];
  for (const what of [...wanted, ...refusals]) expect(seen).toContain(what);
});

function runSeed(seed: number, seen: Set<string>): void {
  const prng = Prng.fromSeed(seed);
  const root = new RootHarness();
  const log: { request: RootRequest; timeMs: number; answer: string; events: unknown }[] = [];
  let sequence = 0;
  for (let entry = 0; entry < 120; entry++) {
    root.timeMs += prng.nextInteger(0, 100);
    const command = randomCommand(prng);
    const mayRepeat = command.kind === "createKeyspace" || command.kind === "registerNode";
    const requestId =
      mayRepeat && prng.chance(0.7)
        ? {
            clientId: prng.pick(["k", "l"]),
            sequence: prng.chance(0.7)
              ? ++sequence
              : Math.max(1, sequence - prng.nextInteger(0, 4)),
            seenRevision: 0 as Revision,
            acknowledgedBelow: Math.max(0, sequence - prng.nextInteger(0, 4)),
          }
        : undefined;
    const { answer, events, result } = root.apply(command, requestId);
    seen.add(result.kind === "refused" ? result.reason : result.kind);
    if (result.kind === "nodeRegistered") {
      const { incarnation, provenSince } = result.node;
      seen.add(provenSince < incarnation ? "proven" : "unproven");
    }
    if (answer.replayed) seen.add("replayed");
    const text = Buffer.from(root.machine.encodeAnswer(answer)).toString("hex");
    log.push({ request: { requestId, command }, timeMs: root.timeMs, answer: text, events });
  }
  const machine = new RootMachine();
  for (const [at, { request, timeMs, answer, events }] of log.entries()) {
    const decoded = machine.decodeRequest(machine.encodeRequest(request));
    if (!decoded.ok) throw new Error(decoded.error);
    const meta = { index: (at + 1) as LogIndex, term: 1 as Term, timeMs: timeMs as LogTimeMs };
    const applied = machine.apply(meta, decoded.value);
    if (applied.answer === undefined) throw new Error("a command has an answer");
    expect(Buffer.from(machine.encodeAnswer(applied.answer)).toString("hex")).toBe(answer);
    expect(applied.events).toEqual(events);
  }
}
