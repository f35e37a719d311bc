/**
 * The judge of histories accuses what is planted for it, one way of being wrong per test, and
 * accepts what only looks wrong.
 */

import { expect, test } from "vitest";
import type { Epoch, GroupId, Incarnation, Revision } from "../../src/base/brands.ts";
import type { Cause, RangeRecord, RevisionChanges } from "../../src/wire/api.ts";
import { judge, type Operation, type Witness } from "./judge.ts";

interface Shape {
  readonly epoch?: number;
  readonly owner?: string | undefined;
  readonly revision?: number;
  readonly accepted?: number;
}

function record({ epoch = 0, owner, revision = 3, accepted = 0 }: Shape): RangeRecord {
  return {
    descriptor: {
      rangeId: "1.3.0",
      keyspace: "k",
      span: { startKey: new Uint8Array(0), endKey: undefined },
      epoch: epoch as Epoch,
      owner: owner === undefined ? undefined : { nodeId: owner, incarnation: 1 as Incarnation },
      replicas: [],
      descriptorRevision: revision as Revision,
      group: 1 as GroupId,
    },
    successor: undefined,
    intendedNodeId: undefined,
    acceptedEpoch: accepted as Epoch,
    handOverRevision: 0 as Revision,
  };
}

const FREE = record({});
const OWNED = record({ epoch: 10, owner: "a", revision: 10 });
const ACCEPTED = record({ epoch: 10, owner: "a", revision: 10, accepted: 10 });
const FREED = record({ epoch: 10, revision: 12, accepted: 10 });

function change(
  revision: number,
  cause: Cause,
  before: RangeRecord,
  after: RangeRecord,
): RevisionChanges {
  return { revision: revision as Revision, changes: [{ before, after, cause }] };
}

const WITNESS: Witness = {
  startRevision: 3,
  start: [FREE],
  changes: [
    change(10, "granted", FREE, OWNED),
    change(11, "accepted", OWNED, ACCEPTED),
    change(12, "released", ACCEPTED, FREED),
  ],
};

const at = (startedAt: number): { startedAt: number; endedAt: number; client: string } => ({
  client: "c",
  startedAt,
  endedAt: startedAt + 1,
});

const GRANT: Operation = {
  ...at(1),
  kind: "grant",
  rangeId: "1.3.0",
  nodeId: "a",
  expectedEpoch: 0,
  expectedDescriptorRevision: 3,
  outcome: { kind: "granted", revision: 10 },
};
const hold = (kind: "accept" | "release", startedAt: number, revision: number): Operation => ({
  ...at(startedAt),
  kind,
  rangeId: "1.3.0",
  nodeId: "a",
  epoch: 10,
  outcome: { kind: "done", revision },
});
const LOOKUP: Operation = {
  ...at(3),
  kind: "lookup",
  rangeId: "1.3.0",
  epoch: 10,
  owner: "a",
  revision: 10,
};
const RIGHT: readonly Operation[] = [GRANT, LOOKUP, hold("accept", 5, 11), hold("release", 7, 12)];

test("a right history is accepted", () => {
  expect(judge(RIGHT, WITNESS)).toEqual([]);
});

test("a repeated acceptance is right wherever it is told", () => {
  expect(
    judge(
      [...RIGHT.slice(0, 2), hold("accept", 5, 11), hold("accept", 5, 11), hold("release", 7, 12)],
      WITNESS,
    ),
  ).toEqual([]);
});

test("an unknown outcome may have taken effect, or not", () => {
  const { outcome: _known, ...grant } = GRANT as Extract<Operation, { kind: "grant" }>;
  const unknown: Operation = { ...grant, outcome: { kind: "unknown" } };
  expect(judge([unknown, ...RIGHT.slice(1)], WITNESS)).toEqual([]);
  expect(judge([...RIGHT, { ...unknown, startedAt: 9 }], WITNESS)).toEqual([]);
});

const WRONG: Readonly<Record<string, readonly [readonly Operation[], Witness]>> = {
  "an acknowledged grant is lost": [[GRANT], { ...WITNESS, changes: [] }],
  "a grant took effect twice": [
    RIGHT,
    { ...WITNESS, changes: [...WITNESS.changes, change(13, "granted", FREED, regrant(13))] },
  ],
  "a range that was owned is granted": [
    [
      ...RIGHT,
      {
        ...(GRANT as Extract<Operation, { kind: "grant" }>),
        ...at(4),
        expectedEpoch: 10,
        expectedDescriptorRevision: 10,
        nodeId: "b",
        outcome: { kind: "granted", revision: 11 },
      },
    ],
    WITNESS,
  ],
  "a read is older than what was acknowledged before it": [
    [...RIGHT, { ...(LOOKUP as object as typeof LOOKUP), ...at(20) } as Operation],
    WITNESS,
  ],
  "a read shows another owner than the map had": [
    [...RIGHT, { ...LOOKUP, owner: "b" } as Operation],
    WITNESS,
  ],
  "a read shows an epoch that was not there yet": [
    [...RIGHT, { ...LOOKUP, revision: 9 } as Operation],
    WITNESS,
  ],
  "a release is lost": [RIGHT, { ...WITNESS, changes: WITNESS.changes.slice(0, 2) }],
  "an acceptance is lost": [
    RIGHT.slice(0, 3),
    { ...WITNESS, changes: WITNESS.changes.slice(0, 1) },
  ],
  "a release is done for one that did not hold the range": [
    [...RIGHT.slice(0, 3), { ...hold("release", 7, 12), nodeId: "b" } as Operation],
    WITNESS,
  ],
  "its owner is refused": [
    [
      ...RIGHT.slice(0, 2),
      { ...hold("accept", 5, 11), outcome: { kind: "refused", revision: 11 } } as Operation,
      hold("release", 7, 12),
    ],
    WITNESS,
  ],
  "an epoch goes back": [
    RIGHT,
    {
      ...WITNESS,
      changes: [...WITNESS.changes, change(13, "expired", FREED, record({ epoch: 4 }))],
    },
  ],
  "an owner comes without a new epoch": [
    RIGHT,
    {
      ...WITNESS,
      changes: [
        ...WITNESS.changes,
        change(13, "granted", FREED, record({ epoch: 10, owner: "b" })),
      ],
    },
  ],
  "the watch repeats a revision": [
    RIGHT,
    { ...WITNESS, changes: [...WITNESS.changes, ...WITNESS.changes.slice(2)] },
  ],
};

for (const [what, [operations, witness]] of Object.entries(WRONG)) {
  test(`it is noticed when ${what}`, () => {
    expect(judge(operations, witness)).not.toEqual([]);
  });
}

function regrant(revision: number): RangeRecord {
  return record({ epoch: revision, owner: "a", revision, accepted: 10 });
}
