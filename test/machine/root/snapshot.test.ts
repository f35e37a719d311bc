/** The root's snapshots: golden bytes, fixed while entries go on, the same once restored. */

import { expect, test } from "vitest";
import type { GroupId, LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { type Bytes, bytesToHex, concatBytes } from "../../../src/base/bytes.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { RootRequest } from "../../../src/machine/root/commands.ts";
import { checkRoot } from "../../../src/machine/root/invariants.ts";
import { RootMachine } from "../../../src/machine/root/machine.ts";
import {
  digestOf,
  drain,
  expectOrderedRecords,
  expectTotalRestore,
  goldenSnapshot,
  restore,
  snapshotOf,
  type Subject,
} from "../snapshots.ts";
import { RootHarness, type RootStep } from "./harness.ts";
import { randomCommand } from "./random-commands.ts";

const SEEDS = 30;
const RESTORED = { ok: true, value: undefined };

class RandomRun {
  readonly prng: Prng;
  readonly root = new RootHarness();
  #sequence = 0;

  constructor(seed: number) {
    this.prng = Prng.fromSeed(seed);
  }

  step(): RootStep & { readonly request: RootRequest } {
    const { prng, root } = this;
    root.timeMs += prng.nextInteger(0, prng.chance(0.05) ? 700_000 : 5_000);
    const command = randomCommand(prng);
    const hasId = command.kind === "createKeyspace" || command.kind === "registerNode";
    const requestId = hasId
      ? {
          clientId: prng.pick(["k", "l", "m"]),
          sequence: prng.chance(0.8) ? ++this.#sequence : Math.max(1, this.#sequence),
          seenRevision: (prng.chance(0.9) ? root.machine.revision : 0) as Revision,
          acknowledgedBelow: Math.max(0, this.#sequence - prng.nextInteger(0, 9)),
        }
      : undefined;
    return { ...root.apply(command, requestId), request: { requestId, command } };
  }

  steps(count: number): void {
    for (let at = 0; at < count; at++) this.step();
  }
}

test("a cut gives the root at which it was opened, whatever is applied between its pieces", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new RandomRun(seed);
    run.steps(run.prng.nextInteger(0, 60));
    const { machine } = run.root;
    const whole = snapshotOf(machine);
    expect(machine.digest()).toBe(digestOf(whole));
    const cut = machine.openCut(run.prng.nextInteger(1, 60));
    const pieces = drain(cut, () => run.steps(run.prng.nextInteger(0, 2)));
    expect(bytesToHex(concatBytes(...pieces)), `seed ${seed}`).toBe(bytesToHex(whole));
  }
});

test("a restored root gives the answers, events and digests of the one that went on", () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const run = new RandomRun(seed);
    for (let round = 0; round < 5; round++) {
      run.steps(run.prng.nextInteger(0, 20));
      const restored = new RootMachine();
      expect(restore(restored, snapshotOf(run.root.machine), run.prng)).toEqual(RESTORED);
      for (let at = 0; at < 10; at++) expectSameStep(run, restored);
    }
  }
});

function expectSameStep(run: RandomRun, restored: RootMachine): void {
  const { request, answer, events, revision } = run.step();
  const timeMs = run.root.timeMs as LogTimeMs;
  const meta = { index: revision as number as LogIndex, term: 1 as Term, timeMs };
  expect(restored.apply(meta, request)).toEqual({ revision, answer, events });
  checkRoot(restored.state);
  expect(restored.digest()).toBe(run.root.machine.digest());
}

/** One request for each kind of record, and a noop. */
function goldenRoot(): RootMachine {
  const machine = new RootMachine();
  const requests: (RootRequest | undefined)[] = [
    {
      requestId: undefined,
      command: {
        kind: "initCluster",
        cluster: { clusterId: "c", name: "n", servers: [], shardGroups: [7 as GroupId] },
      },
    },
    {
      requestId: { clientId: "k", sequence: 5, seenRevision: 1 as Revision, acknowledgedBelow: 3 },
      command: { kind: "markKeyspaceReady", keyspaceId: 9 },
    },
    {
      requestId: undefined,
      command: {
        kind: "createKeyspace",
        settings: {
          name: "o",
          kind: "range",
          hashFunction: undefined,
          leaseMode: "affinity",
          dataKind: "shared",
          leaseDurationMs: 10,
          renewIntervalMs: 3,
        },
        group: 7 as GroupId,
      },
    },
    {
      requestId: undefined,
      command: {
        kind: "registerNode",
        nodeId: "a",
        dataUuid: "u",
        start: { bootId: "b", lockFile: "8:9", startCount: 3 },
        addresses: ["h"],
        zone: "z",
        labels: [{ name: "x", value: "y" }],
        capacity: 2,
      },
    },
    undefined,
  ];
  for (const [at, request] of requests.entries()) {
    const meta = { index: (at + 1) as LogIndex, term: 1 as Term, timeMs: 300 as LogTimeMs };
    machine.apply(meta, request);
  }
  return machine;
}

/** Form 1. Any other bytes for the same state need a new version. */
const GOLDEN = [
  "43445354 00 01", // magic, root, version
  "04 00 05 ac02", // position: group 0, revision 5, time 300
  "0a 01 01 0163 016e 00 01 07 01", // cluster c named n, no servers, shard 7; last keyspace id 1
  "10 02 01 016f 00 00 01 01 0a 03", // keyspace 1, o: range, no hash, affinity, shared, 10, 3;
  "00 01 00 00 07 03", // creating, its one span in group 7, created at 3
  "1b 03 0161 0175 04 00 04 01 0162 03383a39 03", // node a, u: 4, after none, proven since 4;
  "01 0168 017a 01 0178 0179 02", // boot b, file 8:9, start 3; h, z, x=y, 2
  "06 06 00 01 ac02 01", // request floor 0, to be 1 ten minutes after 300
  "04 04 016b 03", // client k, mark 3
  "10 05 05 01 9faf818789d0e90b", // its request 5, seen 1, of digest bd340487 02bcfb7a (53 bits):
  "04050139 02", // refused for "9", decided at 2
];

test("the root's form is stored: its golden bytes never change within a version", () => {
  const bytes = goldenSnapshot(GOLDEN, 6);
  expect(bytesToHex(snapshotOf(goldenRoot()))).toBe(bytesToHex(bytes));
  const restored = new RootMachine();
  expect(restore(restored, bytes)).toEqual(RESTORED);
  checkRoot(restored.state);
  expect(restored.state).toEqual(goldenRoot().state);
});

test("cut, altered and invented bytes are refused or the one form of a root, and never thrown on", () => {
  expectTotalRestore(subjectOf(snapshotOf(goldenRoot())));
});

test("a root without a record, or with one twice or out of place, is refused or another one", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const run = new RandomRun(seed);
    run.steps(60);
    expectOrderedRecords(subjectOf(snapshotOf(run.root.machine)));
  }
});

function subjectOf(bytes: Bytes): Subject<RootMachine> {
  const check = ({ state }: RootMachine): void => {
    for (const { settings, keyspaceId } of state.keyspaces.values()) {
      expect(state.keyspaceIds.get(settings.name)).toBe(keyspaceId);
    }
    expect(state.keyspaceIds.size).toBe(state.keyspaces.size);
  };
  return { newMachine: () => new RootMachine(), check, bytes };
}
