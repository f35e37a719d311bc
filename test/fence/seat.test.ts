// The seat's driver against a fake directory, in virtual time.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { ok } from "../../src/base/result.ts";
import { deadlineOf } from "../../src/fence/hold.ts";
import type * as api from "../../src/wire/api.ts";
import { errorOf, header, refuse, span } from "../client/support.ts";
import { ADDRESSES, FakeDirectory, holding, seated } from "./fake-directory.ts";
import { LEASE_MS } from "./service-model.ts";
import { epoch, MemoryEpochs } from "./support.ts";

const KEY_0 = utf8ToBytes("a");
const KEY_1 = utf8ToBytes("z");

test("a seat registers with what proves the end of the process before, and says if it did (law 13)", async () => {
  const directory = new FakeDirectory();
  const start = { bootId: "0".repeat(32), lockFile: "8:77", startCount: 5 };
  const sent: unknown[] = [];
  directory.override = (method, request: api.RegisterRequest) => {
    if (method !== "register") return undefined;
    sent.push(request.start);
    const answer = { incarnation: 9, predecessor: 7, proven: true };
    const head = header({ group: 0, revision: 9 });
    return ok({ header: head, ...answer, shardGroups: [1], replayed: false });
  };
  await directory.seat({ start });
  await directory.clock.settle();
  expect(sent).toEqual([start]);
  expect(directory.events[0]).toMatchObject({
    kind: "registered",
    incarnation: 9,
    predecessor: 7,
    proven: true,
  });
});

test("a grant is made durable, accepted, and served after the renewal that follows (law 6)", async () => {
  const directory = new FakeDirectory();
  const order: string[] = [];
  const remember = directory.epochs.remember.bind(directory.epochs);
  let durable = (): void => {};
  directory.epochs.remember = async (epochs) => {
    order.push("remember");
    await new Promise<void>((resolve) => {
      durable = resolve;
    });
    await remember(epochs);
  };
  directory.override = (method) => {
    if (["accept", "renew", "openSession", "register"].includes(method)) order.push(method);
    return undefined;
  };
  const seat = await directory.seat();
  await directory.clock.settle();
  expect(order).toEqual(["register", "openSession", "renew"]);
  await directory.grant(0);
  expect(seat.holds()).toMatchObject([{ rangeId: "r0", kind: "granted" }]);
  expect(order.slice(3)).toEqual(["remember"]);
  durable();
  await directory.clock.settle();
  expect(order.slice(3)).toEqual(["remember", "accept", "renew"]);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  expect(seat.isHeld("k", KEY_1)).toBe(false);
  expect(directory.kinds()).toEqual([
    "registered",
    "sessionOpened",
    "renewed",
    "granted",
    "accepted",
    "held",
    "renewed",
  ]);
});

test("a steady seat renews by its keyspace's interval and holds on with one epoch", async () => {
  const { directory, seat } = await holding();
  const [hold] = seat.holds();
  const before = directory.network.callsOf("renew").length;
  await directory.pass(20_000);
  const renewals = directory.network.callsOf("renew").length - before;
  expect(renewals).toBeGreaterThanOrEqual(20);
  expect(renewals).toBeLessThanOrEqual(23);
  expect(seat.holds()).toMatchObject([{ rangeId: "r0", kind: "held", epoch: hold?.epoch }]);
  expect(directory.kinds()).not.toContain("suspect");
});

test("a renewal's attempts are shorter than a third of the lease and change servers (B33)", async () => {
  const { directory, seat } = await holding();
  const last = directory.network.addressesOf("renew").at(-1) ?? "";
  directory.cut([last]);
  await directory.pass(6_000);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  for (const { timeoutMs } of directory.network.callsOf("renew")) {
    expect(timeoutMs).toBeLessThan(LEASE_MS / 3 + 150);
  }
  const later = directory.network.addressesOf("renew").slice(-3);
  expect(later).not.toContain(last);
});

test("with every server away the loss is decided here, once, at the local deadline (B33)", async () => {
  const { directory, seat } = await holding();
  const lastSentMs = directory.network.callsOf("renew").at(-1)?.atMs ?? 0;
  const deadlineMs = deadlineOf(lastSentMs as never, LEASE_MS);
  directory.cut(ADDRESSES);
  await directory.clock.advance(Math.floor(deadlineMs - directory.clock.nowMs()));
  expect(seat.isHeld("k", KEY_0)).toBe(true);
  expect(directory.kinds()).toContain("suspect");
  expect(directory.kinds()).not.toContain("expired");
  await directory.clock.advance(1);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  await directory.pass(3 * LEASE_MS);
  expect(directory.kinds().filter((kind) => kind === "expired")).toHaveLength(1);
  expect(directory.kinds().filter((kind) => kind === "renewalFailed").length).toBeGreaterThan(2);

  // The service has ended the session meanwhile: the old epoch is over for good.
  directory.isSessionOpen = false;
  directory.heal();
  await directory.pass(3_000);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  const ended = directory.events.filter((event) => event.kind === "ended");
  expect(ended).toHaveLength(1);
  expect(directory.kinds().filter((kind) => kind === "sessionOpened")).toHaveLength(2);
  await directory.grant(0);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
});

test("a range that lapsed only here is served again as a new hold, under the same epoch", async () => {
  const { directory, seat } = await holding();
  const [before] = seat.holds();
  const range = { keyspace: "k", key: KEY_0, epoch: before?.epoch ?? epoch(0) };
  const admitted = seat.guard(range);
  directory.cut(ADDRESSES);
  // The service's own time stands still, as without a leader.
  await directory.clock.advance(LEASE_MS);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  const { model } = directory;
  for (const one of model.ranges) one.deadlineMs += 10_000;
  directory.heal();
  await directory.clock.advance(1_500);
  expect(seat.holds()).toMatchObject([{ kind: "held", epoch: before?.epoch }]);
  expect(directory.events.filter((event) => event.kind === "held").at(-1)).toMatchObject({
    again: true,
  });
  // What was admitted before the lapse does not count as held all along.
  const still = admitted.ok ? admitted.value.assertStillHeld() : admitted;
  expect(still).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  expect(seat.guard(range)).toMatchObject({ ok: true });
});

test("renewals don't wait for a watch that has died", async () => {
  const { directory, seat } = await holding();
  directory.network.watches.clear();
  await directory.pass(30_000);
  expect(seat.holds()).toMatchObject([{ kind: "held" }]);
});

test("a watch that does not show what a renewal has told of is begun anew, elsewhere", async () => {
  const { directory, seat } = await seated();
  const [stuck] = directory.network.addressesOf("watch");
  if (stuck === undefined) throw new Error("a seat watches");
  directory.cut([stuck]);
  await directory.grant(0);
  await directory.pass(6_500);
  expect(new Set(directory.network.addressesOf("watch")).size).toBe(2);
  await directory.grant(0);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
});

test("a seat that has no view to renew by asks server after server for one", async () => {
  const directory = new FakeDirectory();
  const { watches } = directory.network;
  const served = new Map(watches);
  watches.clear();
  await directory.seat();
  await directory.pass(5_000);
  expect(directory.kinds()).not.toContain("renewed");
  expect(new Set(directory.network.addressesOf("watch")).size).toBeGreaterThan(1);
  for (const [address, handler] of served) watches.set(address, handler);
  await directory.pass(3_000);
  expect(directory.kinds()).toContain("renewed");
});

test("a view that is too old is refreshed, however many servers are silent about it", async () => {
  const { directory } = await seated();
  const { watches } = directory.network;
  const served = new Map(watches);
  let refusals = 1;
  directory.override = (method) => {
    if (method !== "renew" || refusals-- <= 0) return undefined;
    directory.model.revision++;
    watches.clear();
    return refuse("VIEW_TOO_OLD");
  };
  const before = directory.events.length;
  await directory.pass(5_000);
  expect(directory.kinds().slice(before)).toEqual(["renewalFailed"]);
  for (const [address, handler] of served) watches.set(address, handler);
  // A session lasts 10 s without renewals, and so does a silent watch.
  await directory.pass(3_000);
  expect(directory.kinds().slice(before)).toContain("renewed");
});

test("an earlier process's leases are waited for, as long as the directory says", async () => {
  const directory = new FakeDirectory();
  let refusals = 3;
  directory.override = (method) =>
    method === "openSession" && refusals-- > 0
      ? refuse("SESSION_LIVE", { retryAfterMs: 7_000 })
      : undefined;
  await directory.seat();
  await directory.pass(40_000, 500);
  expect(directory.kinds().slice(0, 5)).toEqual([
    "registered",
    "refused",
    "refused",
    "refused",
    "sessionOpened",
  ]);
  const times = directory.network.callsOf("openSession").map((call) => call.atMs);
  for (const [index, at] of times.slice(1).entries()) {
    expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(7_000);
    expect(at - (times[index] ?? 0)).toBeLessThan(7_100);
  }
});

test("a newer process of the same node stops this one, which serves nothing from then on", async () => {
  const { directory, seat } = await holding();
  directory.override = (method) =>
    method === "renew"
      ? refuse("NO_SESSION")
      : method === "openSession"
        ? refuse("STALE_INCARNATION")
        : undefined;
  await directory.pass(2_000);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  expect(directory.events.at(-1)).toMatchObject({ kind: "stopped", reason: "STALE_INCARNATION" });
  await seat.close({ release: true });
  expect(directory.network.callsOf("release")).toHaveLength(0);
  expect(directory.clock.pendingCount).toBe(0);
});

test("attempts of one renewal carry one pair; the next renewal knows it until it is answered", async () => {
  const { directory } = await holding();
  directory.cut(ADDRESSES);
  const before = directory.network.callsOf("renew").length;
  await directory.pass(2_500);
  directory.heal();
  await directory.pass(2_500);
  const sent = directory.network.callsOf("renew").slice(before);
  const requests = new Map<number, api.RenewRequest[]>();
  for (const { request } of sent) {
    const renewal = request as api.RenewRequest;
    requests.set(renewal.pair.sequence, [...(requests.get(renewal.pair.sequence) ?? []), renewal]);
  }
  expect(Math.max(...[...requests.values()].map(({ length }) => length))).toBeGreaterThan(1);
  for (const attempts of requests.values()) expect(new Set(attempts).size).toBeLessThanOrEqual(1);
  const lengths = [...requests.values()].map(([one]) => one?.known.length ?? 0);
  // While nothing was answered the list grew, and an answer cut it down to one.
  expect(Math.max(...lengths)).toBeGreaterThan(1);
  expect(lengths.at(-1)).toBe(1);
});

test("a view that is too old is refreshed with a snapshot, and renewed from there", async () => {
  const { directory, seat } = await holding();
  let refusals = 1;
  directory.override = (method) =>
    method === "renew" && refusals-- > 0 ? refuse("VIEW_TOO_OLD") : undefined;
  const asOfs = (): number[] =>
    directory.network.callsOf("renew").map((call) => (call.request as api.RenewRequest).asOf);
  const before = asOfs().length;
  const watches = directory.network.callsOf("watch").length;
  directory.model.revision += 50;
  await directory.pass(2_000);
  expect(directory.network.callsOf("watch").length).toBe(watches + 1);
  const [old, fresh] = asOfs().slice(before);
  expect(fresh).toBeGreaterThan(old ?? 0);
  // At once with the new view, not an interval later.
  const [oldCall, freshCall] = directory.network.callsOf("renew").slice(before);
  expect((freshCall?.atMs ?? 0) - (oldCall?.atMs ?? 0)).toBeLessThan(200);
  // The group has applied the old one, as far as the line of renewals goes (law 13).
  const [sentOld, sentFresh] = [oldCall, freshCall].map((call) => call?.request) as [
    api.RenewRequest,
    api.RenewRequest,
  ];
  expect(sentFresh.known).toEqual([sentOld.pair]);
  expect(seat.isHeld("k", KEY_0)).toBe(true);
});

test("an Accept that is refused ends the hold; one without an answer is repeated", async () => {
  const { directory, seat } = await seated();
  let attempts = 0;
  directory.override = (method, request: api.RangeEpochsRequest) => {
    if (method !== "accept") return undefined;
    attempts++;
    if (attempts === 1) return refuse("INTERNAL");
    const outcomes = request.ranges.map(({ rangeId }) => {
      return { rangeId, refused: "STALE_EPOCH" as const, currentEpoch: epoch(99) };
    });
    return ok({ header: header({ revision: directory.model.revision }), outcomes });
  };
  await directory.grant(0);
  await directory.clock.advance(200);
  expect(attempts).toBe(2);
  expect(seat.holds()).toEqual([]);
  expect(directory.kinds()).toContain("refused");
  expect(directory.events.find((event) => event.kind === "ended")).toMatchObject({
    why: "refused",
  });
});

test("a grant below an epoch that was used here is untrusted, and never accepted (law 17)", async () => {
  const directory = new FakeDirectory();
  await directory.epochs.remember([{ keyspace: "k", span: span("c", "d"), epoch: epoch(500) }]);
  const seat = await directory.seat();
  await directory.grant(0);
  await directory.pass(1_000);
  expect(directory.network.callsOf("accept")).toHaveLength(0);
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  const refused = directory.events.filter((event) => event.kind === "refused");
  expect(refused).toMatchObject([{ what: "accept", rangeId: "r0", reason: "UNTRUSTED" }]);
});

test("a failing memory of epochs stops the seat before anything is accepted", async () => {
  const directory = new FakeDirectory();
  directory.epochs.remember = () => Promise.reject(new Error("the disk is full"));
  const seat = await directory.seat();
  await directory.grant(0);
  expect(directory.network.callsOf("accept")).toHaveLength(0);
  expect(directory.events.at(-1)).toMatchObject({ kind: "stopped", reason: "INTERNAL" });
  expect(seat.guard({ keyspace: "k", key: KEY_0, epoch: epoch(99) }).ok).toBe(false);
});

test("a range that ended while its epoch was made durable is not accepted", async () => {
  const directory = new FakeDirectory();
  const remember = directory.epochs.remember.bind(directory.epochs);
  let durable = (): void => {};
  directory.epochs.remember = async (epochs) => {
    await new Promise<void>((resolve) => {
      durable = resolve;
    });
    await remember(epochs);
  };
  const seat = await directory.seat();
  await directory.grant(0);
  const first = seat.holds()[0]?.epoch;
  directory.cut(ADDRESSES);
  await directory.pass(LEASE_MS + 100);
  await directory.grant(0);
  directory.heal();
  await directory.clock.advance(2_000);
  expect(seat.holds()[0]?.epoch).toBeGreaterThan(first ?? 0);
  durable();
  await directory.clock.settle();
  expect(directory.network.callsOf("accept")).toHaveLength(0);
  durable();
  await directory.clock.settle();
  const accepts = directory.network.callsOf("accept").map((call) => call.request);
  expect(accepts).toMatchObject([{ ranges: [{ epoch: seat.holds()[0]?.epoch }] }]);
});

test("release stops serving first, lets the process drain, then tells the directory (law 12)", async () => {
  const { directory, seat } = await holding();
  const order: string[] = [];
  directory.override = (method) => {
    if (method === "release") order.push("told");
    return undefined;
  };
  const releasing = seat.release("all", {
    drain: async () => {
      order.push(seat.isHeld("k", KEY_0) ? "still served" : "stopped");
      await directory.clock.settle();
      order.push("drained");
    },
  });
  await directory.clock.settle();
  await releasing;
  expect(order).toEqual(["stopped", "drained", "told"]);
  expect(directory.model.ranges[0]?.node).toBeUndefined();
});

test("what can't be told is excepted from renewals, so its lease runs out", async () => {
  const { directory, seat } = await holding();
  await directory.grant(1);
  directory.override = (method) => (method === "release" ? refuse("DENIED") : undefined);
  expect(await errorOf(seat.release(["r0"]))).toMatchObject({ reason: "DENIED" });
  await directory.pass(2 * LEASE_MS);
  expect(directory.model.ranges[0]?.node).toBeUndefined();
  expect(directory.model.ranges[1]?.node).toBe("n1");
  expect(seat.holds()).toMatchObject([{ rangeId: "r1", kind: "held" }]);
});

test("close gives everything up and leaves nothing running", async () => {
  const { directory, seat } = await holding();
  const closing = seat.close({ release: true });
  await directory.clock.settle();
  await closing;
  expect(directory.model.ranges[0]?.node).toBeUndefined();
  expect(directory.kinds().slice(-2)).toEqual(["ended", "stopped"]);
  expect(directory.clock.pendingCount).toBe(0);
});

test("a seat closed without release serves nothing, and leaves its leases to run out", async () => {
  const { directory, seat } = await holding();
  const range = { keyspace: "k", key: KEY_0, epoch: seat.holds()[0]?.epoch ?? epoch(0) };
  const admitted = seat.guard(range);
  await seat.close({ release: false });
  expect(seat.isHeld("k", KEY_0)).toBe(false);
  expect(seat.guard(range)).toMatchObject({ ok: false, error: { reason: "LOST_AUTHORITY" } });
  expect(admitted.ok && admitted.value.assertStillHeld().ok).toBe(false);
  expect(seat.holds()).toMatchObject([{ kind: "ended" }]);
  expect(directory.network.callsOf("release")).toHaveLength(0);
  await directory.pass(LEASE_MS + 100);
  expect(directory.model.ranges[0]?.node).toBeUndefined();
});

test("a recorded successor ends the hold when the lease ends, and this node serves no more", async () => {
  const { directory, seat } = await holding();
  const [hold] = seat.holds();
  await directory.grant(0, "n2");
  await directory.pass(LEASE_MS + 500);
  expect(directory.events.filter((event) => event.kind === "ended")).toMatchObject([
    { rangeId: "r0", why: "successor" },
  ]);
  expect(directory.model.ranges[0]?.node).toBe("n2");
  const refused = seat.guard({ keyspace: "k", key: KEY_0, epoch: hold?.epoch ?? epoch(0) });
  expect(refused).toMatchObject({ ok: false, error: { reason: "LOST_AUTHORITY" } });
});

test("a range whose successor is taken back late is renewed at once, and does not lapse", async () => {
  const { directory, seat } = await holding();
  await directory.pass(1_000);
  await directory.grant(0, "n2");
  await directory.pass(2_300);
  directory.model.withdrawSuccessor(0);
  await directory.pass(3_000);
  expect(directory.kinds()).toContain("suspect");
  expect(directory.kinds()).not.toContain("expired");
  expect(seat.isHeld("k", KEY_0)).toBe(true);
});

test("a registration that is refused is thrown, with the directory's reason", async () => {
  const directory = new FakeDirectory();
  directory.override = (method) => (method === "register" ? refuse("NODE_ID_TAKEN") : undefined);
  expect(await errorOf(directory.seat())).toMatchObject({ reason: "NODE_ID_TAKEN" });
});

test("guards answer by the contract's table", async () => {
  const { directory, seat } = await holding();
  const [hold] = seat.holds();
  const held = hold?.epoch ?? epoch(0);
  const reasonFor = (epochValue: number, key = KEY_0): string => {
    const result = seat.guard({ keyspace: "k", key, epoch: epoch(epochValue) });
    return result.ok ? "admitted" : result.error.reason;
  };
  expect(reasonFor(held)).toBe("admitted");
  expect(reasonFor(held - 1)).toBe("STALE_EPOCH");
  expect(reasonFor(held + 1)).toBe("TRANSIENT");
  expect(reasonFor(held, KEY_1)).toBe("NOT_OWNER");
  const admitted = seat.guard({ keyspace: "k", key: KEY_0, epoch: held });
  expect(admitted.ok && admitted.value.assertStillHeld().ok).toBe(true);
  // A process that stood still: no timer has run, and the check sees the deadline all the same.
  directory.clock.freeze(LEASE_MS);
  expect(reasonFor(held)).toBe("LOST_AUTHORITY");
  expect(admitted.ok && admitted.value.assertStillHeld().ok).toBe(false);
});

test("an owner remembers its epochs without the directory, and without a hold (B06)", async () => {
  const directory = new FakeDirectory();
  const epochs = new MemoryEpochs();
  await epochs.remember([{ keyspace: "k", span: span("", "m"), epoch: epoch(30) }]);
  const seat = await directory.seat({ epochs });
  const reasonFor = (epochValue: number): string => {
    const result = seat.guard({ keyspace: "k", key: KEY_0, epoch: epoch(epochValue) });
    return result.ok ? "admitted" : result.error.reason;
  };
  expect(reasonFor(29)).toBe("STALE_EPOCH");
  expect(reasonFor(30)).toBe("LOST_AUTHORITY");
  expect(reasonFor(31)).toBe("TRANSIENT");
});
