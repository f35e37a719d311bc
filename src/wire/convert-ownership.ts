/**
 * Conversions of the Ownership service (proto/cadastre/v1/ownership.proto). An epoch, incarnation
 * or descriptor revision of 0 means "not set" and is refused wherever one is needed.
 */

import type * as api from "./api.ts";
import {
  bool,
  checked,
  type Codec,
  Flaw,
  list,
  message,
  name,
  oneOf,
  optional,
  text,
  uint32,
  uint64,
  unless,
} from "./codec.ts";
import {
  addresses,
  header,
  labels,
  owner,
  rangeRecord,
  requestId,
  span,
  zone,
} from "./convert-common.ts";
import { EXCEPT_MAX, ITEMS_MAX, KNOWN_PAIRS_MAX } from "./limits.ts";
import type { In, MessageCodec, Out } from "./shapes.ts";

const UUID_PATTERN = /^[0-9a-f]{32}$/;

/** One spelling inside, lower case without dashes: two spellings are not two uuids. */
const uuid: Codec<string, string, string> = {
  toProto: (value) => value,
  fromProto: (wire) => {
    const value = wire.length > 64 ? "" : wire.replaceAll("-", "").toLowerCase();
    return UUID_PATTERN.test(value) ? value : new Flaw("must be 32 hex digits, dashes allowed");
  },
};

const processStart: MessageCodec<api.ProcessStart, "ProcessStart"> = message({
  bootId: uuid,
  lockFile: text({ max: 41, pattern: /^\d{1,20}:\d{1,20}$/, form: "a device and an inode, D:I" }),
  startCount: uint64({ min: 1 }),
});

export const registerRequest: MessageCodec<api.RegisterRequest, "RegisterRequest"> = message({
  requestId,
  nodeId: name,
  dataUuid: uuid,
  addresses: checked(addresses, (all) =>
    all.length === 0 ? new Flaw("has no address; clients need one") : undefined,
  ),
  zone,
  labels,
  capacity: uint64(),
  start: optional(processStart),
});

export const registerAnswer: MessageCodec<api.RegisterAnswer, "RegisterResponse"> = message({
  header,
  incarnation: uint64({ min: 1 }),
  shardGroups: list(uint32({ min: 1 })),
  replayed: bool,
  predecessor: unless("0", uint64()),
  proven: bool,
});

export const openSessionRequest: MessageCodec<api.OpenSessionRequest, "OpenSessionRequest"> =
  message({ owner, group: uint32() });

const leaseDuration: MessageCodec<api.LeaseDuration, "LeaseDuration"> = message({
  keyspace: name,
  durationMs: uint32({ min: 1 }),
  renewIntervalMs: uint32({ min: 1 }),
});

export const openSessionAnswer: MessageCodec<api.OpenSessionAnswer, "OpenSessionResponse"> =
  message({ header, alreadyOpen: bool, durations: list(leaseDuration) });

const rangeEpoch: MessageCodec<api.RangeEpoch, "RangeEpoch"> = message({
  rangeId: name,
  epoch: uint64({ min: 1 }),
});

const rangeEpochs = list(rangeEpoch, { min: 1, max: ITEMS_MAX });

export const acceptRequest: MessageCodec<api.RangeEpochsRequest, "AcceptRequest"> = message({
  owner,
  group: uint32(),
  ranges: rangeEpochs,
});

const releaseItem: MessageCodec<api.ReleaseItem, "ReleaseItem"> = message({
  rangeId: name,
  epoch: uint64({ min: 1 }),
  handOverRevision: unless("0", uint64()),
});

export const releaseRequest: MessageCodec<api.ReleaseRequest, "ReleaseRequest"> = message({
  owner,
  group: uint32(),
  ranges: list(releaseItem, { min: 1, max: ITEMS_MAX }),
});

const itemOutcome: MessageCodec<api.ItemOutcome, "ItemOutcome"> = message({
  rangeId: name,
  refused: unless(
    "",
    oneOf({
      STALE_EPOCH: "STALE_EPOCH",
      NOT_OWNER: "NOT_OWNER",
      NOT_FOUND: "NOT_FOUND",
      SESSION_CLOSED: "SESSION_CLOSED",
      NO_SUCCESSOR: "NO_SUCCESSOR",
    }),
  ),
  currentEpoch: uint64(),
});

export const acceptAnswer: MessageCodec<api.RangeEpochsAnswer, "AcceptResponse"> = message({
  header,
  outcomes: list(itemOutcome),
});

export const releaseAnswer: MessageCodec<api.RangeEpochsAnswer, "ReleaseResponse"> = message({
  header,
  outcomes: list(itemOutcome),
});

const keyspaceSpan: MessageCodec<api.KeyspaceSpan, "KeyspaceSpan"> = message({
  keyspace: name,
  span,
});

const renewalPair: MessageCodec<api.RenewalPair, "RenewalPair"> = message({
  sequence: uint64({ min: 1 }),
  nonce: uint64(),
});

export const renewRequest: MessageCodec<api.RenewRequest, "RenewRequest"> = message({
  owner,
  group: uint32(),
  asOf: uint64(),
  except: list(keyspaceSpan, { max: EXCEPT_MAX }),
  pair: renewalPair,
  known: list(renewalPair, { max: KNOWN_PAIRS_MAX }),
});

const holdChangeKind = oneOf({
  granted: "HOLD_GRANTED",
  released: "HOLD_RELEASED",
  expired: "HOLD_EXPIRED",
  successorSet: "HOLD_SUCCESSOR_SET",
  successorLifted: "HOLD_SUCCESSOR_LIFTED",
});

const holdChange: MessageCodec<api.HoldChange, "HoldChange"> = message({
  revision: uint64({ min: 1 }),
  kind: holdChangeKind,
  range: rangeRecord,
});

export const renewAnswer: MessageCodec<api.RenewAnswer, "RenewResponse"> = message({
  header,
  durations: list(leaseDuration),
  changes: list(holdChange),
});

const grantItem: MessageCodec<api.GrantItem, "GrantItem"> = message({
  rangeId: name,
  expectedEpoch: uint64(),
  expectedDescriptorRevision: uint64({ min: 1 }),
  nodeId: name,
  incarnation: unless("0", uint64()),
});

const grantItems: Codec<readonly api.GrantItem[], In<"GrantItem">[], readonly Out<"GrantItem">[]> =
  checked(list(grantItem, { min: 1, max: ITEMS_MAX }), (items) => {
    const seen = new Set<string>();
    for (const [position, { rangeId }] of items.entries()) {
      if (seen.has(rangeId)) return new Flaw("names a range twice", `[${position}].range_id`);
      seen.add(rangeId);
    }
    return undefined;
  });

export const grantRequest: MessageCodec<api.GrantRequest, "GrantRequest"> = message({
  requestId,
  group: uint32(),
  items: grantItems,
  onlyUnowned: bool,
  handOver: bool,
});

const grantOutcomeKind = oneOf({
  granted: "GRANT_OUTCOME_GRANTED",
  successorRecorded: "GRANT_OUTCOME_SUCCESSOR_RECORDED",
  alreadyOwner: "GRANT_OUTCOME_ALREADY_OWNER",
});

const grantOutcome: MessageCodec<api.GrantOutcome, "GrantOutcome"> = message({
  rangeId: name,
  kind: grantOutcomeKind,
  range: rangeRecord,
  leaseDurationMs: uint32(),
  waitMs: uint64(),
});

export const grantAnswer: MessageCodec<api.GrantAnswer, "GrantResponse"> = message({
  header,
  outcomes: list(grantOutcome),
  replayed: bool,
});

export const withdrawSuccessorRequest: MessageCodec<
  api.WithdrawSuccessorRequest,
  "WithdrawSuccessorRequest"
> = message({
  requestId,
  group: uint32(),
  rangeId: name,
  expectedEpoch: uint64({ min: 1 }),
  expectedDescriptorRevision: uint64({ min: 1 }),
});

export const withdrawSuccessorAnswer: MessageCodec<
  api.WithdrawSuccessorAnswer,
  "WithdrawSuccessorResponse"
> = message({ header, range: rangeRecord, replayed: bool });
