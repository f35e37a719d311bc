// A seat of whose incarnation there are two processes (law 13), against a fake directory.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type * as api from "../../src/wire/api.ts";
import type { GroupId } from "../../src/base/brands.ts";
import { ok } from "../../src/base/result.ts";
import { type Answer, errorOf, header, record, refuse, snapshotFrame } from "../client/support.ts";
import { ADDRESSES, FakeDirectory, holding } from "./fake-directory.ts";
import { LEASE_MS } from "./service-model.ts";

const KEY_0 = utf8ToBytes("a");
const KEY_1 = utf8ToBytes("z");

/** As if a copy of the seat had renewed: to all renewals of this one. */
function renewedByCopy(directory: FakeDirectory): void {
  directory.override = (method, { pair }: api.RenewRequest) =>
    method === "renew"
      ? refuse("LATE_COPY", { metadata: { last_sequence: String(pair.sequence + 1) } })
      : undefined;
}

/** What a directory with two shard groups says to a registration; undefined to anything else. */
function inTwoGroups(method: string): Answer | undefined {
  if (method !== "register") return undefined;
  const answer = { incarnation: 1, predecessor: undefined, proven: false, replayed: false };
  return ok({ header: header({ group: 0, revision: 5 }), ...answer, shardGroups: [1, 2] });
}

/** The watch shows the second group, with these ranges. */
async function showSecondGroup(
  directory: FakeDirectory,
  ranges: readonly ReturnType<typeof record>[],
): Promise<void> {
  const fields = { header: header({ group: 2 as GroupId, revision: 12 }) };
  await directory.act(() => void directory.model.frames.push(snapshotFrame(12, ranges, fields)));
}

function passed(directory: FakeDirectory, ms: number): Promise<void> {
  return new Promise((resolve) => void directory.clock.after(ms, resolve));
}

test("a closed session is renewed no more, served to its deadlines, and then left (law 13)", async () => {
  const directory = new FakeDirectory();
  let isVoided = false;
  const voidProof = (): Promise<void> => {
    isVoided = true;
    return Promise.resolve();
  };
  const seat = await directory.seat({ voidProof });
  await directory.clock.settle();
  await directory.grant(0);
  await directory.pass(500);
  directory.override = (method) =>
    method === "renew"
      ? refuse("SESSION_CLOSED")
      : method === "accept"
        ? refuse("DENIED")
        : undefined;
  await directory.pass(700);
  const renewals = directory.network.callsOf("renew").length;
  const closed = directory.events.find((event) => event.kind === "sessionClosed");
  const deadlineMs = directory.clock.nowMs() + (seat.holds()[0]?.remainingMs ?? 0);
  expect(closed?.remainingMs).toBeCloseTo(deadlineMs - (closed?.atMs ?? 0));
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  expect(isVoided).toBe(true);
  // Granted meanwhile to the copy, as it were: not taken over.
  await directory.grant(1);
  await directory.clock.advance(deadlineMs - directory.clock.nowMs() - 1);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  await directory.clock.advance(2);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  expect(directory.events.slice(-2)).toMatchObject([
    { kind: "expired", rangeId: "r0" },
    { kind: "stopped", reason: "SESSION_CLOSED" },
  ]);
  expect(directory.network.callsOf("renew")).toHaveLength(renewals);
  expect(directory.network.callsOf("accept")).toHaveLength(1);
  await seat.close({ release: true });
  expect(directory.network.callsOf("release")).toHaveLength(0);
  expect(directory.clock.pendingCount).toBe(0);
});

test("a copied seat that can't void its proof says so when it stops", async () => {
  const directory = new FakeDirectory();
  await directory.seat({ voidProof: () => Promise.reject(new Error("the disk is full")) });
  await directory.clock.settle();
  directory.override = (method) => (method === "renew" ? refuse("SESSION_CLOSED") : undefined);
  await directory.pass(4_000);
  const last = directory.events.at(-1);
  expect(last).toMatchObject({ kind: "stopped", reason: "SESSION_CLOSED" });
  expect(last?.kind === "stopped" && last.message).toContain("the disk is full");
});

test("a closed incarnation that would open its session again stops, and voids its proof", async () => {
  const directory = new FakeDirectory();
  directory.override = (method) =>
    method === "openSession" ? refuse("SESSION_CLOSED") : undefined;
  let isVoided = false;
  const voidProof = (): Promise<void> => {
    isVoided = true;
    return Promise.resolve();
  };
  await directory.seat({ voidProof });
  await directory.pass(100);
  expect(directory.events.at(-1)).toMatchObject({ kind: "stopped", reason: "SESSION_CLOSED" });
  expect(isVoided).toBe(true);
});

test("what one group says of a copy holds in all: nothing is asked of them, all is served out", async () => {
  const directory = new FakeDirectory();
  let isClosed = false;
  directory.override = (method, request: api.RenewRequest) => {
    if (method === "renew" && request.group === 2 && isClosed) return refuse("SESSION_CLOSED");
    return inTwoGroups(method);
  };
  const seat = await directory.seat();
  await directory.clock.settle();
  await directory.grant(0);
  await showSecondGroup(directory, []);
  await directory.pass(500);
  isClosed = true;
  while (!directory.kinds().includes("sessionClosed")) await directory.pass(100);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  const asked = directory.network.calls.length;
  await directory.grant(1);
  expect(await errorOf(seat.release(["r0"]))).toMatchObject({ reason: "SESSION_CLOSED" });
  await directory.clock.advance(LEASE_MS);
  expect(directory.network.calls).toHaveLength(asked);
  expect(directory.events.at(-1)).toMatchObject({ kind: "stopped", reason: "SESSION_CLOSED" });
});

test("a release under way ends when the session turns out to be another's, too (law 13)", async () => {
  const { directory, seat } = await holding();
  await directory.grant(1);
  await directory.pass(100);
  let isCopied = false;
  const releasedAfter: boolean[] = [];
  directory.override = (method, { pair }: api.RenewRequest) => {
    if (method === "release") {
      releasedAfter.push(directory.kinds().includes("sessionClosed"));
      return refuse("TRANSIENT");
    }
    const metadata = { last_sequence: String((pair?.sequence ?? 0) + 1) };
    return method === "renew" && isCopied ? refuse("LATE_COPY", { metadata }) : undefined;
  };
  const releasing = errorOf(seat.release(["r0"]));
  isCopied = true;
  await directory.pass(1_600);
  await releasing;
  expect(directory.kinds()).toContain("sessionClosed");
  expect(releasedAfter.length).toBeGreaterThan(0);
  expect(releasedAfter).not.toContain(true);
});

test("a seat stops when the group has applied a renewal that it never sent (law 13)", async () => {
  const { directory } = await holding();
  let last = 0;
  directory.override = (method, { pair }: api.RenewRequest) => {
    if (method !== "renew") return undefined;
    last = pair.sequence + 1;
    return refuse("LATE_COPY", { metadata: { last_sequence: String(last) } });
  };
  await directory.pass(1_500);
  expect(directory.kinds()).toContain("sessionClosed");
});

test("a seat whose renewals are another's gives nothing up, not even when it is closed (law 13)", async () => {
  const { directory, seat } = await holding();
  await directory.grant(1);
  const releasing = errorOf(seat.release(["r0"], { drain: () => passed(directory, 1_500) }));
  renewedByCopy(directory);
  await directory.pass(1_600);
  expect(directory.kinds()).toContain("sessionClosed");
  // The copy may serve it still.
  expect(await releasing).toMatchObject({ reason: "SESSION_CLOSED", outcome: "notApplied" });
  expect(seat.isHeld("k", KEY_1)).toBe(true);
  await seat.close({ release: true });
  expect(seat.isHeld("k", KEY_1)).toBe(false);
  expect(directory.network.callsOf("release")).toHaveLength(0);
  expect(directory.clock.pendingCount).toBe(0);
});

test("a seat that has not renewed yet gives nothing up: a copy of it may have (law 13)", async () => {
  const directory = new FakeDirectory();
  directory.override = (method) => (method === "renew" ? refuse("TRANSIENT") : undefined);
  const seat = await directory.seat();
  await directory.clock.settle();
  await directory.grant(0);
  expect(await errorOf(seat.release("all"))).toMatchObject({ outcome: "notApplied" });
  expect(directory.network.callsOf("release")).toHaveLength(0);
  await directory.pass(2 * LEASE_MS);
  expect(directory.model.ranges[0]?.node).toBeUndefined();
  await seat.close({ release: true });
});

test("nothing is accepted under a session that was closed while the epoch was made durable", async () => {
  const { directory, seat } = await holding();
  const accepted = directory.network.callsOf("accept").length;
  let durable = (): void => {};
  directory.epochs.remember = () =>
    new Promise((resolve) => {
      durable = resolve;
    });
  await directory.grant(1);
  renewedByCopy(directory);
  await directory.pass(1_500);
  expect(directory.kinds()).toContain("sessionClosed");
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  durable();
  await directory.clock.settle();
  expect(directory.network.callsOf("accept")).toHaveLength(accepted);
  await seat.close({ release: false });
});

test("a seat goes on when a copy of its own was late, and what it said was applied (law 13)", async () => {
  const { directory, seat } = await holding();
  let refusals = 1;
  directory.override = (method, { pair }: api.RenewRequest) =>
    method === "renew" && refusals-- > 0
      ? refuse("LATE_COPY", { metadata: { last_sequence: String(pair.sequence) } })
      : undefined;
  await directory.pass(3_000);
  expect(refusals).toBeLessThan(1);
  expect(directory.kinds()).not.toContain("sessionClosed");
  expect(seat.isHeld("k", KEY_0)).toBe(true);
});

test("a group that may not be told keeps no other from being told", async () => {
  const directory = new FakeDirectory();
  let failures = ADDRESSES.length;
  directory.override = (method, request: api.RenewRequest) => {
    if (method === "release" && failures-- > 0) return refuse("TRANSIENT");
    if (method !== "release" && request.group === 2) return refuse("TRANSIENT");
    return inTwoGroups(method);
  };
  const seat = await directory.seat();
  await directory.clock.settle();
  await directory.grant(0);
  const theirs = record({ id: "r9", start: "m", epoch: 3, node: "n1", group: 2 });
  await showSecondGroup(directory, [theirs]);
  expect(seat.holds().map(({ group }) => group)).toEqual([1, 2]);
  const closing = seat.close({ release: true });
  await directory.clock.advance(1_000);
  await closing;
  expect(directory.model.ranges[0]?.node).toBeUndefined();
  const told = directory.network.callsOf("release").map(({ request }) => request);
  expect(told).not.toContainEqual(expect.objectContaining({ group: 2 }));
});
