// Each checker of the service's properties can fail: it is shown a world in which its property is
// broken.
import { expect, test } from "vitest";
import type {
  Epoch,
  GroupId,
  LogIndex,
  LogTimeMs,
  Revision,
  Term,
} from "../../../src/base/brands.ts";
import { EMPTY_BYTES, utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { Owner, RangeRecord } from "../../../src/machine/shard/types.ts";
import type { Entry } from "../../../src/raft/types.ts";
import type { DurableStep, LoadedReplica, LogStore } from "../../../src/replica/ports.ts";
import { LOG_START } from "../../../src/raft/types.ts";
import { INITIAL_HARD_STATE } from "../../../src/raft/types.ts";
import type { Header, WatchFrame } from "../../../src/wire/api.ts";
import { ShardOracle } from "../oracle.ts";
import type { RangeChangeSeen, RevisionSeen } from "../range-versions.ts";
import { StoreModel } from "../store-model.ts";
import { SHARD } from "../virtual-cluster.ts";
import { wireRecordOf } from "../wire-records.ts";
import { broken } from "./broken.ts";
import { ReadsChecker } from "./p14-reads.ts";
import { checkTiling } from "./p15-tiling.ts";
import { type Admitted, checkReleased, type Guarding, OneOwnerChecker } from "./p16-one-owner.ts";
import { EpochsChecker } from "./p17-epochs.ts";
import { SessionsChecker } from "./p18-sessions.ts";
import { WatchChecker } from "./p20-watch.ts";

const A: Owner = { nodeId: "a", incarnation: 1 as Owner["incarnation"] };
const B: Owner = { nodeId: "b", incarnation: 2 as Owner["incarnation"] };

function range(facts: Partial<RangeRecord>): RangeRecord {
  return {
    rangeId: "1.1.0",
    keyspaceId: 1,
    startKey: EMPTY_BYTES,
    endKey: undefined,
    epoch: 0 as Epoch,
    owner: undefined,
    successor: undefined,
    intendedNodeId: undefined,
    acceptedEpoch: 0 as Epoch,
    handOverRevision: 0 as Revision,
    replicas: [],
    descriptorRevision: 1 as Revision,
    ...facts,
  };
}

function seen(revision: number, ...changes: Omit<RangeChangeSeen, "keyspaceId">[]): RevisionSeen {
  return {
    revision: revision as Revision,
    changes: changes.map((change) => ({ ...change, keyspaceId: 1 })),
  };
}

const unowned = range({});
const ownedBy = (owner: Owner, epoch: number): RangeRecord => {
  return range({ owner, epoch: epoch as Epoch });
};

// ---- The oracle, over a short life of one shard

const KEYSPACE: ShardCommand = {
  kind: "createKeyspace",
  terms: {
    keyspaceId: 1,
    name: "k",
    leaseDurationMs: 3_000,
    renewIntervalMs: 1_000,
    leaseMode: "exclusive",
    dataKind: "none",
  },
};

function entryOf(index: number, command: ShardCommand): Entry {
  const payload = new ShardMachine(SHARD).encodeRequest({ requestId: undefined, command });
  return {
    index: index as LogIndex,
    term: 1 as Term,
    kind: "command",
    timeMs: 0 as LogTimeMs,
    payload,
  };
}

function oracleWithKeyspace(): ShardOracle {
  const owners = { isAlive: () => false, serves: () => false };
  const oracle = new ShardOracle(() => {}, owners);
  oracle.onCommitted(entryOf(1, KEYSPACE));
  return oracle;
}

test("11, 21: a replica that answers otherwise than a fresh machine", () => {
  const oracle = oracleWithKeyspace();
  const machine = new ShardMachine(SHARD);
  const meta = { index: 1 as LogIndex, term: 1 as Term, timeMs: 0 as LogTimeMs };
  const applied = machine.apply(meta, { requestId: undefined, command: KEYSPACE });
  oracle.check("server 1", machine, meta, applied);
  const other = { ...applied, events: [] };
  expect(broken(() => oracle.check("server 1", machine, meta, other))).toBe(11);
  oracle.checkState("server 1", 1, machine.digest());
  expect(broken(() => oracle.checkState("server 1", 1, "another"))).toBe(11);
  const ahead = { ...meta, index: 2 as LogIndex };
  expect(broken(() => oracle.check("server 1", machine, ahead, applied))).toBe(5);
});

test("12: steps called durable out of order, and an open that finds less than was promised", () => {
  const submitted: DurableStep[] = [];
  const store: LogStore = {
    submit: (step) => submitted.push(step),
    close: () => Promise.resolve(),
  };
  const group = 1 as GroupId;
  const stepTo = (index: number): DurableStep => ({
    group,
    hardState: undefined,
    truncateFrom: undefined,
    base: undefined,
    snapshot: undefined,
    entries: [entryOf(index, { kind: "expire" })],
    onDurable: () => {},
  });
  const model = new StoreModel(() => {});
  const wrapped = model.wrap(store);
  for (const index of [1, 2, 3]) wrapped.submit(stepTo(index));
  expect(broken(() => submitted[1]?.onDurable())).toBe(12);
  submitted[0]?.onDurable();
  const found = (count: number): LoadedReplica => ({
    group,
    replicaId: 1 as LoadedReplica["replicaId"],
    configuration: { voters: [1 as LoadedReplica["replicaId"]] },
    hardState: INITIAL_HARD_STATE,
    snapshot: LOG_START,
    base: LOG_START,
    entries: Array.from({ length: count }, (_, at) => entryOf(at + 1, { kind: "expire" })),
  });
  expect(broken(() => model.reopened([found(0)]))).toBe(12);
  const again = new StoreModel(() => {});
  for (const index of [1, 2, 3]) again.wrap(store).submit(stepTo(index));
  expect(again.reopened([found(2)])).toBe(1);
});

test("14: a read that is old, ahead of the log, or not as the map was", () => {
  const oracle = oracleWithKeyspace();
  const reads = new ReadsChecker(oracle, () => {});
  const record = oracle.versions.at("1.1.0", 1);
  if (record === undefined) return expect.fail("the keyspace has a range");
  const { descriptor } = wireRecordOf(record, "k", SHARD);
  const request = { keyspace: "k", key: utf8ToBytes("x"), read: { kind: "linearizable" } };
  const call = { service: "directory", method: "lookup", request } as const;
  const answer = (revision: number, shown: object = {}): { ok: true; value: never } => ({
    ok: true,
    value: {
      header: { group: SHARD, revision },
      route: { descriptor: { ...descriptor, ...shown }, addresses: [], intendedNodeId: undefined },
    } as never,
  });
  const serve = (): ReturnType<ReadsChecker["onServe"]> => {
    return reads.onServe({ ...call, context: { timeoutMs: 1 } });
  };
  serve()(answer(1));
  expect(broken(() => serve()(answer(2)))).toBe(14);
  expect(broken(() => serve()(answer(0)))).toBe(14);
  expect(broken(() => serve()(answer(1, { epoch: 7 })))).toBe(14);
});

test("15: a map with a gap, and a change of bounds that is none", () => {
  const left = range({ endKey: utf8ToBytes("m") });
  const right = range({ rangeId: "1.1.1", startKey: utf8ToBytes("n") });
  const defined = seen(1, { cause: "rangesDefined", before: undefined, after: left });
  expect(broken(() => checkTiling(defined, () => [left, right]))).toBe(15);
  expect(broken(() => checkTiling(defined, () => [left]))).toBe(15);
  checkTiling(defined, () => [left, range({ rangeId: "1.1.1", startKey: utf8ToBytes("m") })]);
  const granted = seen(2, { cause: "granted", before: unowned, after: left });
  expect(broken(() => checkTiling(granted, () => []))).toBe(15);
});

// ---- Owners

class FakeGuard implements Guarding {
  readonly name: string;
  readonly isDead = false;
  held: readonly Admitted[] = [];

  constructor(name: string) {
    this.name = name;
  }

  admitted(): readonly Admitted[] {
    return this.held;
  }

  admits(name: string): boolean {
    return this.held.some((one) => one.name === name);
  }
}

function admittedUnder(epoch: number, remainingMs = 1_000): Admitted {
  return { name: "k/", rangeId: "1.1.0", epoch: epoch as Epoch, remainingMs };
}

test("16: two guards for one key, an epoch that goes back, and a lease that ends too early", () => {
  let nowMs = 0;
  const service = { isGranted: true, leaseMs: 10_000 };
  const owners = new OneOwnerChecker({ nowMs: () => nowMs, service: () => service });
  const [one, other] = [new FakeGuard("a#1"), new FakeGuard("b#1")];
  one.held = [admittedUnder(5)];
  owners.onRan(one);
  other.held = [admittedUnder(6)];
  expect(broken(() => owners.onRan(other))).toBe(16);
  one.held = [];
  owners.onRan(one);
  owners.onRan(other);
  nowMs = 100;
  other.held = [admittedUnder(4)];
  expect(broken(() => owners.onRan(other))).toBe(16);
  other.held = [admittedUnder(6, 9_900)];
  expect(broken(() => owners.onRan(other))).toBe(16);
  service.isGranted = false;
  other.held = [admittedUnder(6)];
  expect(broken(() => owners.onRan(other))).toBe(16);
});

test("16: an admission that is called still held over a lapse", () => {
  let nowMs = 0;
  const owners = new OneOwnerChecker({ nowMs: () => nowMs, service: () => undefined });
  const guard = new FakeGuard("a#1");
  const epoch = 5 as Epoch;
  guard.held = [admittedUnder(5, 100)];
  owners.onRan(guard);
  nowMs = 50;
  guard.held = [admittedUnder(5, 100)];
  owners.onRan(guard);
  owners.onStillHeld(guard, "k/", epoch, 10);
  nowMs = 200;
  owners.onRan(guard);
  expect(broken(() => owners.onStillHeld(guard, "k/", epoch, 10))).toBe(16);
});

test("16: a guarded write under an epoch older than one that was accepted", () => {
  const owners = new OneOwnerChecker({ nowMs: () => 0, service: () => undefined });
  owners.onAccepted("k/", 5 as Epoch);
  owners.onAccepted("k/", 5 as Epoch);
  expect(broken(() => owners.onAccepted("k/", 4 as Epoch))).toBe(16);
});

test("16: a range that is given up while its owner serves it", () => {
  const released = seen(6, { cause: "released", before: ownedBy(A, 5), after: unowned });
  expect(broken(() => checkReleased(released, () => true))).toBe(16);
  checkReleased(released, ({ nodeId }, _rangeId, epoch) => nodeId !== "a" || epoch !== 5);
});

test("17: a grant that is not its own revision, and an epoch that comes again under other bounds", () => {
  const granting = (revision: number, epoch: number, facts: Partial<RangeRecord> = {}) => {
    const after = { ...ownedBy(A, epoch), ...facts };
    return seen(revision, { cause: "granted", before: unowned, after });
  };
  expect(broken(() => new EpochsChecker().onRevision(granting(5, 4)))).toBe(17);
  const epochs = new EpochsChecker();
  epochs.onRevision(granting(5, 5));
  const left = { rangeId: "1.6.0", endKey: utf8ToBytes("m") };
  expect(broken(() => epochs.onRevision(granting(4, 4, left)))).toBe(17);
  const quiet = seen(6, { cause: "accepted", before: ownedBy(A, 5), after: ownedBy(B, 5) });
  expect(broken(() => epochs.onRevision(quiet))).toBe(17);
});

test("18: a lease that expires before its time, and a restart that takes from the living", () => {
  const start = (isAlive: boolean): SessionsChecker => {
    const sessions = new SessionsChecker(() => isAlive);
    const none = { answer: undefined, seen: undefined };
    sessions.onApplied({ timeMs: 0, command: KEYSPACE, ...none });
    const granted = { cause: "granted", before: unowned, after: ownedBy(A, 5) } as const;
    sessions.onApplied({
      timeMs: 1_000,
      command: undefined,
      answer: undefined,
      seen: seen(5, granted),
    });
    return sessions;
  };
  const endAt = (timeMs: number, cause: "expired" | "restarted") => ({
    timeMs,
    command: undefined,
    answer: undefined,
    seen: seen(6, { cause, before: ownedBy(A, 5), after: unowned }),
  });
  start(true).onApplied(endAt(4_000, "expired"));
  expect(broken(() => start(true).onApplied(endAt(3_999, "expired")))).toBe(18);
  start(false).onApplied(endAt(1_001, "restarted"));
  expect(broken(() => start(true).onApplied(endAt(1_001, "restarted")))).toBe(18);
});

test("20: a watch that shows what is not, misses a change, or tells one twice", () => {
  const oracle = oracleWithKeyspace();
  const record = oracle.versions.at("1.1.0", 1);
  if (record === undefined) return expect.fail("the keyspace has a range");
  const frame = (revision: number, rest: object): WatchFrame => {
    const header = { group: SHARD, revision } as Header;
    return { header, resumeToken: undefined, ...rest } as WatchFrame;
  };
  const shown = wireRecordOf(record, "k", SHARD);
  const marks = { kind: "snapshot", first: true, last: true, afterCompaction: false };
  const snapshot = frame(1, { ...marks, ranges: [shown] });
  const started = (): WatchChecker => {
    const watch = new WatchChecker(oracle, {});
    watch.onFrame(snapshot);
    return watch;
  };
  const wrong = frame(1, { ...marks, ranges: [{ ...shown, acceptedEpoch: 9 }] });
  expect(broken(() => new WatchChecker(oracle, {}).onFrame(wrong))).toBe(20);
  const empty = frame(1, { ...marks, ranges: [] });
  expect(broken(() => new WatchChecker(oracle, {}).onFrame(empty))).toBe(20);
  expect(broken(() => started().onFrame(snapshot))).toBe(20);
  oracle.onCommitted(entryOf(2, { kind: "defineRanges", keyspaceId: 1, splitKeys: [] }));
  expect(broken(() => started().onFrame(frame(2, { kind: "progress" })))).toBe(20);
  const changes = (oracle.versions.revisions[1]?.changes ?? []).map((change) => ({
    before: change.before && wireRecordOf(change.before, "k", SHARD),
    after: change.after && wireRecordOf(change.after, "k", SHARD),
    cause: change.cause,
  }));
  const told = frame(2, { kind: "changes", revisions: [{ revision: 2, changes }] });
  const watch = started();
  watch.onFrame(told);
  expect(broken(() => watch.onFrame(told))).toBe(20);
  const half = frame(2, { kind: "changes", revisions: [{ revision: 2, changes: [changes[0]] }] });
  expect(changes.length).toBeGreaterThan(1);
  expect(broken(() => started().onFrame(half))).toBe(20);
});
