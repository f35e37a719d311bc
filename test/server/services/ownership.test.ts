/**
 * The life of storage nodes on whole servers: register, open, grant, accept, renew, release; and
 * what clients may repeat when an outcome is unknown (laws 5, 8, 12 and 13).
 */

import { expect, test } from "vitest";
import type { Epoch, Incarnation, Revision, ServerId } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type {
  GrantRequest,
  Owner,
  RangeRecord,
  RangeEpochsAnswer,
  RegisterAnswer,
  ReleaseItem,
  RenewAnswer,
  RenewRequest,
} from "../../../src/wire/api.ts";
import { ROOT, SHARD, type VirtualCluster } from "../../sim/virtual-cluster.ts";
import {
  clusterWith,
  followerAndLeader,
  freshId,
  grant,
  grantItem,
  grantOf,
  join,
  others,
  ranges,
  register,
  revisionAt,
  services,
  WAIT,
} from "./harness.ts";
import { SENT_AGAIN } from "../../sent-again.ts";

function renewRequest(
  owner: Owner,
  asOf: Revision,
  more: Partial<RenewRequest> = {},
): RenewRequest {
  return { owner, group: SHARD, asOf, except: [], ...SENT_AGAIN, ...more };
}

function renew(
  cluster: VirtualCluster,
  at: ServerId,
  owner: Owner,
  asOf: Revision,
): Promise<RenewAnswer> {
  const { ownership } = services(cluster, at);
  return cluster.answer(ownership.renew(renewRequest(owner, asOf), WAIT));
}

function held({ descriptor }: Pick<RangeRecord, "descriptor">): ReleaseItem {
  const { rangeId, epoch } = descriptor;
  return { rangeId, epoch, handOverRevision: undefined };
}

async function grantRequest(
  cluster: VirtualCluster,
  at: ServerId,
  owner: { readonly nodeId: string },
  more: Partial<GrantRequest> = {},
): Promise<GrantRequest> {
  const items = (await ranges(cluster, at)).map(({ descriptor }) => grantItem(descriptor, owner));
  return { ...grantOf(items), ...more };
}

test("a storage node registers again with its data directory, another is refused", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const dashed = "0123abcd-0123-0123-0123-0123456789AB";
  const first = await register(cluster, follower, "n1", { dataUuid: dashed });
  const plain = dashed.replaceAll("-", "").toLowerCase();
  const second = await register(cluster, leader, "n1", { dataUuid: plain });
  expect(second.incarnation).toBeGreaterThan(first.incarnation);
  const request = {
    requestId: freshId(),
    nodeId: "n1",
    dataUuid: "f".repeat(32),
    addresses: ["x:1"],
    zone: "",
    labels: {},
    capacity: 0,
    start: undefined,
  };
  const taken = await cluster.result(services(cluster, follower).ownership.register(request, WAIT));
  expect(taken).toMatchObject({ ok: false, error: { reason: "NODE_ID_TAKEN", field: "node_id" } });
});

test("a registration that is repeated through another server makes one incarnation", async () => {
  const cluster = await clusterWith();
  const requestId = freshId();
  const owners: Owner[] = [];
  for (const id of cluster.ids) owners.push(await register(cluster, id, "n1", { requestId }));
  expect(new Set(owners.map(({ incarnation }) => incarnation)).size).toBe(1);
});

test("a session needs the present registration, and waits for an earlier one's leases", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const { ownership } = services(cluster, follower);
  const openAs = (owner: Owner): ReturnType<typeof ownership.openSession> =>
    ownership.openSession({ owner, group: SHARD }, WAIT);
  const nobody = { nodeId: "n1", incarnation: 99 as Incarnation };
  expect(await cluster.result(openAs(nobody))).toMatchObject({
    ok: false,
    error: { reason: "NOT_FOUND", field: "owner.incarnation" },
  });
  const old = await join(cluster, leader, "n1");
  expect(await cluster.answer(openAs(old))).toMatchObject({ alreadyOpen: true });
  await grant(cluster, leader, [0], old);
  const next = await register(cluster, leader, "n1");
  expect(await cluster.result(openAs(old))).toMatchObject({
    ok: false,
    error: { reason: "STALE_INCARNATION", metadata: { node_id: "n1" } },
  });
  const live = await cluster.result(openAs(next));
  expect(live).toMatchObject({ ok: false, error: { reason: "SESSION_LIVE" } });
  if (!live.ok) expect(Number(live.error.metadata["wait_ms"])).toBeGreaterThan(0);
  await cluster.clock.advance(11_000);
  expect(await cluster.answer(openAs(next))).toMatchObject({ alreadyOpen: false });
  const wrongGroup = ownership.openSession({ owner: next, group: 7 as never }, WAIT);
  expect(await cluster.result(wrongGroup)).toMatchObject({
    ok: false,
    error: { reason: "WRONG_GROUP", field: "group" },
  });
});

test("a registration that proves the end of the one before gets its ranges at once (law 13)", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const { ownership } = services(cluster, follower);
  const start = { bootId: "b".repeat(32), lockFile: "8:77", startCount: 4 };
  const old = await register(cluster, leader, "n1", { start });
  await cluster.answer(ownership.openSession({ owner: old, group: SHARD }, WAIT));
  await grant(cluster, leader, [0], old);
  const next = await register(cluster, follower, "n1", {
    start: { ...start, startCount: 5 },
    addresses: ["n1:2"],
  });
  const opened = await cluster.answer(ownership.openSession({ owner: next, group: SHARD }, WAIT));
  const [range] = await ranges(cluster, follower);
  expect(range?.descriptor).toMatchObject({ owner: next, epoch: opened.header.revision });
});

test("a registration says what it proves, and which one was before it (law 13)", async () => {
  const cluster = await clusterWith();
  const { ownership } = services(cluster, await cluster.leader(ROOT));
  const facts = { nodeId: "n1", dataUuid: "0".repeat(32), addresses: ["n1:1"], zone: "" };
  const registerWith = (startCount: number): Promise<RegisterAnswer> => {
    const start = { bootId: "b".repeat(32), lockFile: "8:77", startCount };
    const rest = { requestId: freshId(), labels: {}, capacity: 0, start };
    return cluster.answer(ownership.register({ ...facts, ...rest }, WAIT));
  };
  const first = await registerWith(1);
  expect(first).toMatchObject({ predecessor: undefined, proven: false });
  const second = await registerWith(2);
  expect(second).toMatchObject({ predecessor: first.incarnation, proven: true });
  const afterACrash = await registerWith(4);
  expect(afterACrash).toMatchObject({ predecessor: second.incarnation, proven: false });
});

test("accept and release judge each range on its own", async () => {
  const cluster = await clusterWith(["b", "c"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const n1 = await join(cluster, leader, "n1");
  const n2 = await join(cluster, leader, "n2");
  await grant(cluster, leader, [0], n1);
  await grant(cluster, leader, [1], n2);
  const [own, foreign, unowned] = (await ranges(cluster, leader)).map(held) as [
    ReleaseItem,
    ReleaseItem,
    ReleaseItem,
  ];
  const stale = { ...own, epoch: (own.epoch - 1) as Epoch };
  const none = { ...own, rangeId: "1.999.0", epoch: 1 as Epoch };
  const named = [foreign, stale, none, unowned, own];
  const { ownership } = services(cluster, follower);
  const request = { owner: n1, group: SHARD, ranges: named };
  const refusals = ["NOT_OWNER", "STALE_EPOCH", "NOT_FOUND", "NOT_OWNER", undefined];
  for (const call of [ownership.accept, ownership.accept, ownership.release]) {
    const { outcomes } = await cluster.answer(call(request, WAIT));
    expect(outcomes.map(({ refused }) => refused)).toEqual(refusals);
    expect(outcomes.map(({ rangeId }) => rangeId)).toEqual(named.map(({ rangeId }) => rangeId));
  }
  const [released] = await ranges(cluster, leader);
  expect(released?.descriptor).toMatchObject({ epoch: own.epoch, owner: undefined });
  expect(released?.acceptedEpoch).toBe(own.epoch);
  const again = await cluster.answer(ownership.release(request, WAIT));
  expect(again.outcomes.at(-1)?.refused).toBe("NOT_OWNER");
});

test("a renewal states its revision, the durations, and every change since the view (law 8)", async () => {
  const cluster = await clusterWith(["b", "c"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const n1 = await join(cluster, leader, "n1");
  const asOf = revisionAt(cluster, leader, SHARD);
  const granted = await grant(cluster, leader, [0, 1], n1);
  const n2 = await join(cluster, leader, "n2");
  await grant(cluster, leader, [1], n2);
  const answer = await renew(cluster, follower, n1, asOf);
  expect(answer.changes.map(({ kind, range }) => [kind, range.descriptor.rangeId])).toEqual([
    ["granted", granted.outcomes[0]?.rangeId],
    ["granted", granted.outcomes[1]?.rangeId],
    ["successorSet", granted.outcomes[1]?.rangeId],
  ]);
  expect(answer.header.revision).toBeGreaterThan(granted.header.revision);
  expect(answer.durations).toEqual([
    { keyspace: "demo", durationMs: 6_000, renewIntervalMs: 2_000 },
  ]);
  const next = await renew(cluster, leader, n1, answer.header.revision);
  expect(next.changes).toEqual([]);
});

test("renewals extend what was in the view, but not what they except", async () => {
  const cluster = await clusterWith(["b", "c"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  const { header } = await grant(cluster, leader, [0, 1, 2], owner);
  const span = { startKey: utf8ToBytes("b"), endKey: utf8ToBytes("c") };
  const except = [{ keyspace: "demo", span }];
  for (let round = 0; round < 4; round++) {
    await cluster.clock.advance(2_000);
    const asOf = round === 0 ? header.revision : revisionAt(cluster, leader, SHARD);
    const request = renewRequest(owner, asOf, { except });
    await cluster.answer(services(cluster, follower).ownership.renew(request, WAIT));
  }
  const owners = (await ranges(cluster, leader)).map(({ descriptor }) => descriptor.owner);
  expect(owners).toEqual([owner, undefined, owner]);
});

test("a renewal that does not fit is refused by name, and by field where one is wrong", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const { ownership } = services(cluster, follower);
  const owner = await join(cluster, leader, "n1");
  const now = revisionAt(cluster, leader, SHARD);
  const span = { startKey: utf8ToBytes(""), endKey: undefined };
  const wide = { startKey: new Uint8Array(2_000), endKey: new Uint8Array(2_001).fill(1) };
  const stranger = { nodeId: "n2", incarnation: 1 as Incarnation };
  const expected: [RenewRequest, Record<string, unknown>][] = [
    [renewRequest(stranger, now), { reason: "NO_SESSION", metadata: { node_id: "n2" } }],
    [renewRequest({ ...owner, incarnation: 1 as Incarnation }, now), { reason: "NO_SESSION" }],
    [renewRequest(owner, (now + 1_000) as Revision), { reason: "INVALID", field: "as_of" }],
    [renewRequest(owner, now, { group: 9 as never }), { reason: "WRONG_GROUP", field: "group" }],
    [
      renewRequest(owner, now, { except: [{ keyspace: "none", span }] }),
      { reason: "NOT_FOUND", field: "except[0].keyspace" },
    ],
    [
      renewRequest(owner, now, {
        except: Array.from({ length: 256 }, () => ({ keyspace: "demo", span: wide })),
      }),
      { reason: "INVALID", field: "except" },
    ],
  ];
  for (const [request, error] of expected) {
    expect(await cluster.result(ownership.renew(request, WAIT))).toMatchObject({
      ok: false,
      error,
    });
  }
  await renew(cluster, leader, owner, now);
  const old = renewRequest(owner, 1 as Revision);
  expect(await cluster.result(ownership.renew(old, WAIT))).toMatchObject({
    ok: false,
    error: { reason: "VIEW_TOO_OLD", field: "as_of", metadata: { floor: String(now) } },
  });
});

test("two processes of one incarnation are told so through every server, and run out (law 13)", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  await grant(cluster, leader, [0], owner);
  const asOf = revisionAt(cluster, leader, SHARD);
  const renewAs = (sequence: number, nonce: number, ...known: RenewRequest["known"]) => {
    const request = renewRequest(owner, asOf, { pair: { sequence, nonce }, known });
    return cluster.result(services(cluster, follower).ownership.renew(request, WAIT));
  };
  expect(await renewAs(1, 10)).toMatchObject({ ok: true });
  expect(await renewAs(2, 20, { sequence: 1, nonce: 10 })).toMatchObject({ ok: true });
  expect(await renewAs(1, 10)).toMatchObject({
    ok: false,
    error: { reason: "LATE_COPY", metadata: { last_sequence: "2" } },
  });
  const closed = { ok: false, error: { reason: "SESSION_CLOSED", metadata: { node_id: "n1" } } };
  expect(await renewAs(3, 33, { sequence: 1, nonce: 10 })).toMatchObject(closed);
  expect(await renewAs(3, 30, { sequence: 2, nonce: 20 })).toMatchObject(closed);
  const [range] = await ranges(cluster, leader);
  if (range === undefined) throw new Error("there is a range");
  const { ownership } = services(cluster, follower);
  const release = ownership.release({ owner, group: SHARD, ranges: [held(range)] }, WAIT);
  expect((await cluster.answer(release)).outcomes).toMatchObject([{ refused: "SESSION_CLOSED" }]);
  const again = ownership.openSession({ owner, group: SHARD }, WAIT);
  expect(await cluster.result(again)).toMatchObject({
    ok: false,
    error: { reason: "SESSION_CLOSED" },
  });
  await cluster.clock.advance(6_100);
  const [after] = await ranges(cluster, leader);
  expect(after?.descriptor.owner).toBeUndefined();
});

test("a range is handed over by the entry that releases it, or not at all (law 12)", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  const [n1, n2] = [await join(cluster, leader, "n1"), await join(cluster, leader, "n2")];
  await grant(cluster, leader, [0], n1);
  const { ownership } = services(cluster, follower);
  const request = await grantRequest(cluster, leader, n2, { handOver: true });
  const asked = await cluster.answer(ownership.grant(request, WAIT));
  const [outcome] = asked.outcomes;
  expect(outcome).toMatchObject({
    kind: "successorRecorded",
    range: { successor: n2, handOverRevision: asked.header.revision },
  });
  const [range] = await ranges(cluster, follower);
  if (range === undefined) throw new Error("there is a range");
  const release = (handOverRevision: Revision): Promise<RangeEpochsAnswer> => {
    const items = [{ ...held(range), handOverRevision }];
    return cluster.answer(ownership.release({ owner: n1, group: SHARD, ranges: items }, WAIT));
  };
  const wrong = await release((asked.header.revision - 1) as Revision);
  expect(wrong.outcomes).toMatchObject([{ refused: "NO_SUCCESSOR" }]);
  expect((await ranges(cluster, leader))[0]?.descriptor.owner).toEqual(n1);
  const right = await release(range.handOverRevision);
  expect(right.outcomes).toMatchObject([{ refused: undefined }]);
  const [after] = await ranges(cluster, leader);
  expect(after).toMatchObject({
    descriptor: { owner: n2, epoch: right.header.revision },
    handOverRevision: 0,
  });
});

test("a grant is all or nothing, and names the item whose expectation fails", async () => {
  const cluster = await clusterWith(["b", "c"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  const { ownership } = services(cluster, follower);
  const good = (await grantRequest(cluster, leader, owner)).items;
  const [first, second, third] = good as [(typeof good)[0], (typeof good)[0], (typeof good)[0]];
  const bad: [GrantRequest["items"], Record<string, unknown>][] = [
    [
      [first, { ...second, expectedEpoch: 5 as Epoch }],
      { reason: "INVALID", field: "items[1].expected_epoch" },
    ],
    [
      [first, second, { ...third, expectedDescriptorRevision: 1 as Revision }],
      { reason: "STALE_EPOCH", field: "items[2].expected_descriptor_revision" },
    ],
    [[first, { ...second, nodeId: "n9" }], { reason: "NO_SESSION" }],
    [[first, { ...second, incarnation: 1 as Incarnation }], { reason: "STALE_INCARNATION" }],
    [[first, { ...second, rangeId: "1.999.0" }], { reason: "NOT_FOUND" }],
    [[first, first], { reason: "INVALID" }],
  ];
  for (const [items, error] of bad) {
    const refused = await cluster.result(ownership.grant(grantOf(items), WAIT));
    expect(refused).toMatchObject({ ok: false, error });
    for (const { descriptor } of await ranges(cluster, leader)) expect(descriptor.epoch).toBe(0);
  }
  await grant(cluster, leader, [0], owner);
  const refused = await cluster.result(ownership.grant(grantOf(good), WAIT));
  expect(refused).toMatchObject({
    ok: false,
    error: { reason: "STALE_EPOCH", descriptors: [{ rangeId: first.rangeId, owner }] },
  });
  const held = await grantRequest(cluster, leader, owner, { onlyUnowned: true });
  const other = await join(cluster, leader, "n2");
  const items = held.items.map((item) => ({
    ...item,
    nodeId: other.nodeId,
    incarnation: undefined,
  }));
  const leaseHeld = await cluster.result(ownership.grant({ ...held, items }, WAIT));
  expect(leaseHeld).toMatchObject({ ok: false, error: { reason: "LEASE_HELD" } });
});

test("a successor is recorded, granted by the entry that ends the lease, or withdrawn", async () => {
  const cluster = await clusterWith(["b"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const n1 = await join(cluster, leader, "n1");
  const n2 = await join(cluster, leader, "n2");
  await grant(cluster, leader, [0, 1], n1);
  const recorded = await grant(cluster, follower, [0, 1], n2);
  for (const outcome of recorded.outcomes) {
    expect(outcome.kind).toBe("successorRecorded");
    expect(outcome.waitMs).toBeGreaterThan(0);
    expect(outcome.range).toMatchObject({ successor: n2, descriptor: { owner: n1 } });
  }
  const { ownership } = services(cluster, follower);
  const [, second] = await ranges(cluster, leader);
  if (second === undefined) throw new Error("there are two ranges");
  const { rangeId, expectedEpoch, expectedDescriptorRevision } = grantItem(second.descriptor, n1);
  const expectation = { rangeId, expectedEpoch, expectedDescriptorRevision };
  const withdraw = { requestId: freshId(), group: SHARD, ...expectation };
  const first = await cluster.answer(ownership.withdrawSuccessor(withdraw, WAIT));
  expect(first).toMatchObject({ replayed: false, range: { successor: undefined } });
  const repeated = await cluster.answer(
    services(cluster, leader).ownership.withdrawSuccessor(withdraw, WAIT),
  );
  expect(repeated).toMatchObject({ replayed: true, range: first.range });
  const again = ownership.withdrawSuccessor({ ...withdraw, requestId: freshId() }, WAIT);
  expect(await cluster.result(again)).toMatchObject({ ok: false, error: { reason: "NOT_FOUND" } });
  const limitMs = Math.max(...recorded.outcomes.map(({ waitMs }) => waitMs)) + 500;
  await cluster.clock.advance(limitMs);
  const owners = (await ranges(cluster, leader)).map(({ descriptor }) => descriptor.owner);
  expect(owners).toEqual([n2, undefined]);
});

test("a leader that dies right after the append: the same request id has one effect", async () => {
  for (const timing of ["appended", "sent", "committed"] as const) {
    const cluster = await clusterWith(["b"]);
    const leader = await cluster.leader(SHARD);
    const owner = await join(cluster, leader, "n1");
    const request = await grantRequest(cluster, leader, owner);
    const before = revisionAt(cluster, leader, SHARD);
    const call = services(cluster, leader).ownership.grant(request, WAIT);
    if (timing === "appended") {
      for (const id of others(cluster, leader)) cluster.stall(id, SHARD);
      await cluster.clock.advance(3);
    } else if (timing === "sent") {
      await cluster.clock.settle();
    } else {
      await cluster.until(() => revisionAt(cluster, leader, SHARD) > before);
    }
    cluster.crash(leader);
    for (const id of cluster.ids) cluster.unstall(id, SHARD);
    const outcome = await cluster.result(call);
    if (!outcome.ok) expect(outcome.error.reason).toBe("UNCERTAIN");
    const answers = [];
    for (const id of cluster.runningIds) {
      answers.push(await cluster.answer(services(cluster, id).ownership.grant(request, WAIT)));
    }
    const epochs = new Set(
      (await ranges(cluster, await cluster.leader(SHARD))).map(
        ({ descriptor }) => descriptor.epoch as number,
      ),
    );
    expect(epochs.size).toBe(1);
    for (const answer of answers) {
      expect(epochs.has(answer.header.revision)).toBe(true);
      expect(answer.outcomes.map(({ kind }) => kind)).toEqual(["granted", "granted"]);
      if (outcome.ok) expect(answer.outcomes).toEqual(outcome.value.outcomes);
    }
    expect(answers[1]).toMatchObject({ ...answers[0], header: {}, replayed: true });
  }
});

test("the same request id with another body, or from the future, or forgotten, is refused", async () => {
  const cluster = await clusterWith(["b"]);
  const { leader, follower } = await followerAndLeader(cluster);
  const owner = await join(cluster, leader, "n1");
  const { ownership } = services(cluster, follower);
  const request = await grantRequest(cluster, leader, owner);
  const id = freshId();
  const items = request.items.slice(0, 1);
  await cluster.answer(ownership.grant({ ...request, items, requestId: id }, WAIT));
  const rest = request.items.slice(1);
  const reuse = { ...request, items: rest, requestId: id };
  const ahead = { ...reuse, requestId: freshId({ seenRevision: 1_000_000 as Revision }) };
  const next = { ...id, sequence: 3, acknowledgedBelow: 3 };
  await cluster.answer(ownership.grant({ ...request, items: rest, requestId: next }, WAIT));
  const forgotten = { ...request, items, requestId: { ...id, sequence: 2 } };
  const expected: [GrantRequest, string, string][] = [
    [reuse, "EXPIRED_ID", "request_id"],
    [forgotten, "EXPIRED_ID", "request_id"],
    [{ ...reuse, requestId: next, items }, "REQUEST_ID_REUSED", "request_id"],
    [ahead, "INVALID", "request_id.seen_revision"],
  ];
  for (const [again, reason, field] of expected) {
    const refused = await cluster.result(ownership.grant(again, WAIT));
    expect(refused).toMatchObject({ ok: false, error: { reason, field } });
  }
});

test("a grant through a server that has yet to hear of the keyspace is answered all the same", async () => {
  const cluster = await clusterWith();
  const { leader, follower } = await followerAndLeader(cluster);
  cluster.stall(follower, SHARD);
  const { keyspaces } = services(cluster, leader);
  const settings = { leaseMode: "exclusive", dataKind: "none", hashFunction: undefined } as const;
  const create = {
    requestId: freshId(),
    name: "late",
    kind: "range",
    leaseDurationMs: 6_000,
    renewIntervalMs: 2_000,
    ...settings,
  } as const;
  await cluster.answer(keyspaces.createKeyspace(create, WAIT));
  const owner = await join(cluster, leader, "n1");
  const read = { kind: "linearizable" } as const;
  const lookup = { keyspace: "late", key: utf8ToBytes(""), read };
  const { route } = await cluster.answer(services(cluster, leader).directory.lookup(lookup, WAIT));
  const { ownership } = services(cluster, follower);
  const items = [grantItem(route.descriptor, owner)];
  const request = grantOf(items);
  const early = await cluster.result(ownership.grant(request, { timeoutMs: 300 }));
  // It is not even proposed before this server knows the range.
  expect(early).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  await cluster.answer(services(cluster, leader).ownership.grant(request, WAIT));
  const asOf = route.descriptor.descriptorRevision;
  const renewal = ownership.renew(renewRequest(owner, asOf), { timeoutMs: 300 });
  expect((await cluster.result(renewal)).ok).toBe(false);
  const repeated = ownership.grant(request, WAIT);
  cluster.unstall(follower, SHARD);
  const answer = await cluster.answer(repeated);
  expect(answer).toMatchObject({ replayed: true, outcomes: [{ kind: "granted" }] });
  expect(answer.outcomes[0]?.range.descriptor.keyspace).toBe("late");
});
