// Handing a range over (law 12): the guard closes before the directory is told, and stays closed
// until it is known what became of it.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { Admission } from "../../src/fence/guard.ts";
import type { Seat } from "../../src/fence/seat.ts";
import type * as api from "../../src/wire/api.ts";
import { refuse } from "../client/support.ts";
import { ADDRESSES, FakeDirectory, holding, type SeatedWorld } from "./fake-directory.ts";
import { LEASE_MS } from "./service-model.ts";

const KEY = utf8ToBytes("a");
const DRAIN_MS = 1_000;

async function seatOfRange(drainMs = DRAIN_MS): Promise<SeatedWorld> {
  const world = await holding({ drainMs });
  expect(world.seat.isHeld("k", KEY)).toBe(true);
  return world;
}

function ask(directory: FakeDirectory): Promise<void> {
  return directory.act(() => directory.model.grant(0, "n2", true));
}

function request(seat: Seat): ReturnType<Seat["guard"]> {
  const epoch = seat.holds()[0]?.epoch ?? (0 as never);
  return seat.guard({ keyspace: "k", key: KEY, epoch });
}

function admit(seat: Seat): Admission {
  const admitted = request(seat);
  if (!admitted.ok) throw new Error(admitted.error.message);
  return admitted.value;
}

function releases(directory: FakeDirectory): api.ReleaseRequest[] {
  return directory.network.callsOf("release").map((call) => call.request as api.ReleaseRequest);
}

test("asked to, a seat admits nothing new, lets what it admitted end, and then releases", async () => {
  const { directory, seat } = await seatOfRange();
  const first = admit(seat);
  const second = admit(seat);
  await ask(directory);
  expect(seat.holds()).toMatchObject([{ kind: "draining" }]);
  expect(request(seat)).toMatchObject({ ok: false, error: { reason: "TRANSIENT" } });
  expect(seat.isHeld("k", KEY)).toBe(false);
  expect(first.assertStillHeld().ok).toBe(true);
  first.finish();
  first.finish();
  await directory.clock.settle();
  expect(releases(directory)).toEqual([]);
  expect(second.assertStillHeld().ok).toBe(true);
  second.finish();
  await directory.clock.settle();
  const { epoch, handOver } = { epoch: first.epoch, handOver: directory.model.revision - 1 };
  expect(releases(directory)).toMatchObject([
    { ranges: [{ rangeId: "r0", epoch, handOverRevision: handOver }] },
  ]);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2", successor: undefined });
  expect(seat.holds()).toEqual([]);
  expect(directory.events.slice(-2)).toMatchObject([
    { kind: "handingOver", successorId: "n2" },
    { kind: "ended", why: "handedOver" },
  ]);
});

test("with nothing in hand, a range is handed over at once", async () => {
  const { directory, seat } = await seatOfRange();
  admit(seat).finish();
  await ask(directory);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
});

test("what has not ended when the time is up makes nothing of it, and does not hold it up", async () => {
  const { directory, seat } = await seatOfRange();
  const slow = admit(seat);
  await ask(directory);
  await directory.clock.advance(DRAIN_MS - 1);
  expect(releases(directory)).toEqual([]);
  expect(slow.assertStillHeld().ok).toBe(true);
  await directory.clock.advance(1);
  expect(slow.assertStillHeld()).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  expect(releases(directory)).toHaveLength(1);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
});

test("the lease ends the draining, if it ends sooner than the time for it", async () => {
  const { directory, seat } = await seatOfRange(10 * LEASE_MS);
  const slow = admit(seat);
  await ask(directory);
  const remainingMs = seat.holds()[0]?.remainingMs ?? 0;
  expect(remainingMs).toBeGreaterThan(0);
  await directory.clock.advance(remainingMs - 1);
  expect(slow.assertStillHeld().ok).toBe(true);
  await directory.clock.advance(2);
  expect(slow.assertStillHeld().ok).toBe(false);
  expect(releases(directory)).toHaveLength(1);
});

test("however long the answer takes, the range stays closed, and the release is repeated", async () => {
  const { directory, seat } = await seatOfRange();
  let lost = 0;
  directory.override = (method, one: api.ReleaseRequest) => {
    if (method !== "release") return undefined;
    lost++;
    // It takes effect, and its answer is lost.
    const [item] = one.ranges;
    if (item !== undefined && lost === 1) {
      directory.model.release(item.rangeId, item.epoch, item.handOverRevision);
    }
    return lost < 4 ? refuse("UNCERTAIN") : undefined;
  };
  await ask(directory);
  for (let at = 0; at < 5; at++) {
    expect(seat.isHeld("k", KEY)).toBe(false);
    expect(request(seat).ok).toBe(false);
    await directory.clock.advance(100);
  }
  await directory.clock.advance(3_000);
  expect(lost).toBeGreaterThan(3);
  expect(seat.holds()).toEqual([]);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
});

test("taken back while it drains, a range is served on: it was held all along", async () => {
  const { directory, seat } = await seatOfRange();
  const slow = admit(seat);
  await ask(directory);
  expect(request(seat).ok).toBe(false);
  await directory.act(() => directory.model.withdrawSuccessor(0));
  expect(slow.assertStillHeld().ok).toBe(true);
  admit(seat).finish();
  slow.finish();
  await directory.pass(5_000);
  expect(releases(directory)).toEqual([]);
  expect(seat.isHeld("k", KEY)).toBe(true);
});

test("taken back after it closed, a range is served again as a new hold", async () => {
  const { directory, seat } = await seatOfRange();
  const slow = admit(seat);
  await ask(directory);
  directory.cut(ADDRESSES);
  await directory.clock.advance(DRAIN_MS);
  expect(seat.holds()).toMatchObject([{ kind: "closed" }]);
  directory.heal();
  await directory.act(() => directory.model.withdrawSuccessor(0));
  // The watch tells of it, which means nothing yet: the release may be on its way.
  expect(seat.isHeld("k", KEY)).toBe(false);
  await directory.pass(4_000);
  expect(releases(directory).length).toBeGreaterThan(0);
  expect(seat.isHeld("k", KEY)).toBe(true);
  expect(slow.assertStillHeld()).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  expect(directory.events.findLast(({ kind }) => kind === "held")).toMatchObject({ again: true });
});

test("a renewal's answer is enough: the watch need not tell (law 8)", async () => {
  const { directory, seat } = await seatOfRange();
  directory.cut(directory.network.addressesOf("watch"));
  await ask(directory);
  expect(seat.isHeld("k", KEY)).toBe(true);
  await directory.clock.advance(1_500);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
  expect(seat.isHeld("k", KEY)).toBe(false);
});

test("a range that was never served here is handed over, once a renewal was answered (law 13)", async () => {
  // Until then another process of this incarnation may be the one that serves.
  const directory = new FakeDirectory();
  let isBlocked = true;
  directory.override = (method) =>
    isBlocked && (method === "renew" || method === "accept") ? refuse("TRANSIENT") : undefined;
  await directory.seat();
  await directory.clock.settle();
  await directory.grant(0);
  await ask(directory);
  await directory.clock.advance(1_000);
  expect(releases(directory)).toEqual([]);
  isBlocked = false;
  await directory.clock.advance(1_500);
  expect(releases(directory)).toHaveLength(1);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
});

test("a closed session hands nothing over: its leases run out (law 13)", async () => {
  const { directory, seat } = await seatOfRange();
  directory.override = (method) => (method === "renew" ? refuse("SESSION_CLOSED") : undefined);
  await directory.clock.advance(1_100);
  await ask(directory);
  await directory.clock.advance(500);
  expect(seat.isHeld("k", KEY)).toBe(false);
  expect(releases(directory)).toEqual([]);
  await directory.pass(LEASE_MS);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
});

test("a second request while the first is on its way is the one that counts", async () => {
  const { directory, seat } = await seatOfRange();
  directory.override = (method) => (method === "release" ? refuse("UNCERTAIN") : undefined);
  await ask(directory);
  await directory.act(() => directory.model.withdrawSuccessor(0));
  await ask(directory);
  expect(seat.isHeld("k", KEY)).toBe(false);
  directory.override = undefined;
  await directory.clock.advance(1_500);
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
  expect(seat.holds()).toEqual([]);
});

test("a seat that is closed while it hands over leaves nothing running", async () => {
  const { directory, seat } = await seatOfRange();
  admit(seat);
  await ask(directory);
  await seat.close({ release: true });
  expect(directory.model.ranges[0]).toMatchObject({ node: "n2" });
  expect(directory.clock.pendingCount).toBe(0);
});
