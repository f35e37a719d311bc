/** Arbitrary commands and results of the shard, for the round trips of its codecs. */

import fc from "fast-check";
import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import { DATA_KINDS, LEASE_MODES } from "../../../src/machine/common/keyspace-modes.ts";
import type { RequestId } from "../../../src/machine/common/request-ids.ts";
import {
  GRANT_OUTCOMES,
  HOLD_CHANGES,
  REFUSAL_REASONS,
  type RenewalAnswer,
  type ShardResult,
} from "../../../src/machine/shard/answers.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import type { RangeRecord } from "../../../src/machine/shard/types.ts";
import { anyKey, anyText, anyUint, branded, maybe } from "../codec-checks.ts";

const owner = fc.record({ nodeId: anyText, incarnation: branded<Incarnation>() });
const rangeEpochs = fc.array(fc.record({ rangeId: anyText, epoch: branded<Epoch>() }), {
  maxLength: 4,
});

const record: fc.Arbitrary<RangeRecord> = fc.record({
  rangeId: anyText,
  keyspaceId: anyUint,
  startKey: anyKey,
  endKey: maybe(anyKey),
  epoch: branded<Epoch>(),
  owner: maybe(owner),
  successor: maybe(owner),
  intendedNodeId: maybe(anyText),
  handOverRevision: branded<Revision>(),
  acceptedEpoch: branded<Epoch>(),
  replicas: fc.array(fc.record({ nodeId: anyText, inSync: fc.boolean() }), { maxLength: 3 }),
  descriptorRevision: branded<Revision>(),
});

const released = fc.array(
  fc.record({
    rangeId: anyText,
    epoch: branded<Epoch>(),
    handOverRevision: branded<Revision>(),
  }),
  { maxLength: 4 },
);

const pair = fc.record({ sequence: anyUint, nonce: anyUint });

const renewals = fc.array(
  fc.record({
    nodeId: anyText,
    incarnation: branded<Incarnation>(),
    asOf: branded<Revision>(),
    except: fc.array(fc.record({ keyspaceId: anyUint, startKey: anyKey, endKey: maybe(anyKey) }), {
      maxLength: 3,
    }),
    pair,
    known: fc.array(pair, { maxLength: 3 }),
  }),
  { maxLength: 4 },
);

const grantItems = fc.array(
  fc.record({
    rangeId: anyText,
    expectedEpoch: branded<Epoch>(),
    expectedDescriptorRevision: branded<Revision>(),
    nodeId: anyText,
    incarnation: maybe(branded<Incarnation>()),
  }),
  { maxLength: 4 },
);

const rows = fc.array(fc.record({ startKey: anyKey, intendedNodeId: maybe(anyText) }), {
  maxLength: 5,
});

function kind<K extends string>(word: K): fc.Arbitrary<K> {
  return fc.constant(word);
}

export const anyCommand: fc.Arbitrary<ShardCommand> = fc.oneof(
  fc.record({
    kind: kind("createKeyspace"),
    terms: fc.record({
      keyspaceId: anyUint,
      name: anyText,
      leaseDurationMs: anyUint,
      renewIntervalMs: anyUint,
      leaseMode: fc.constantFrom(...LEASE_MODES),
      dataKind: fc.constantFrom(...DATA_KINDS),
    }),
  }),
  fc.record({ kind: kind("defineRanges"), keyspaceId: anyUint, splitKeys: fc.array(anyKey) }),
  fc.record({ kind: kind("renew"), renewals }),
  fc.record({
    kind: kind("grant"),
    items: grantItems,
    onlyUnowned: fc.boolean(),
    handOver: fc.boolean(),
  }),
  fc.record({
    kind: kind("openSession"),
    nodeId: anyText,
    incarnation: branded<Incarnation>(),
    provenSince: branded<Incarnation>(),
    addresses: fc.array(anyText, { maxLength: 3 }),
  }),
  fc.tuple(owner, rangeEpochs).map(([o, ranges]) => ({ kind: "accept", ...o, ranges }) as const),
  fc.tuple(owner, released).map(([o, ranges]) => ({ kind: "release", ...o, ranges }) as const),
  fc.record({
    kind: kind("stageImport"),
    importId: anyText,
    keyspaceId: anyUint,
    part: anyUint,
    rows,
  }),
);

const renewalAnswer: fc.Arbitrary<RenewalAnswer> = fc.oneof(
  fc.record({
    kind: kind("extended"),
    durations: fc.array(
      fc.record({
        keyspaceId: anyUint,
        keyspace: anyText,
        durationMs: anyUint,
        renewIntervalMs: anyUint,
      }),
      { maxLength: 2 },
    ),
    changes: fc.array(
      fc.record({
        revision: branded<Revision>(),
        kind: fc.constantFrom(...HOLD_CHANGES),
        range: record,
      }),
      { maxLength: 3 },
    ),
  }),
  fc.record({ kind: kind("viewTooOld"), floor: branded<Revision>() }),
  fc.record({ kind: kind("lateCopy"), lastSequence: anyUint }),
);

export const anyResult: fc.Arbitrary<ShardResult> = fc.oneof(
  fc.record({
    kind: kind("refused"),
    reason: fc.constantFrom(...REFUSAL_REASONS),
    subject: anyText,
    item: maybe(anyUint),
    range: maybe(record),
    waitMs: maybe(anyUint),
  }),
  fc.record({ kind: kind("renewed"), answers: fc.array(renewalAnswer, { maxLength: 3 }) }),
  fc.record({
    kind: kind("grantsDone"),
    outcomes: fc.array(
      fc.record({
        kind: fc.constantFrom(...GRANT_OUTCOMES),
        range: record,
        leaseDurationMs: anyUint,
        waitMs: anyUint,
      }),
      { maxLength: 3 },
    ),
  }),
);

export const anyRequestId: fc.Arbitrary<RequestId> = fc.record({
  clientId: anyText,
  sequence: anyUint,
  seenRevision: branded<Revision>(),
  acknowledgedBelow: anyUint,
});
