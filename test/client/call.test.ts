// The retry table: what follows each reason, for reads and mutations, and how long it goes on.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import type { GroupId, Incarnation } from "../../src/base/brands.ts";
import type { Client } from "../../src/client/client.ts";
import { CoordinationError } from "../../src/client/errors.ts";
import type { Reason, ReasonRow } from "../../src/wire/errors.ts";
import { REASONS } from "../../src/wire/errors.ts";
import { answer, errorOf, FakeNetwork, refuse, status } from "./support.ts";

const ADDRESSES = ["a:1", "b:1", "c:1"];
const ALL_REASONS = Object.keys(REASONS) as Reason[];

type Action = "throws" | "other server at once" | "same server later";

/** The contract's column, spelt out: nothing is derived from the code under test. */
const ACTION_OF_RETRY: Record<ReasonRow["retry"], Action> = {
  never: "throws",
  refresh: "throws",
  otherServer: "other server at once",
  sameRequest: "other server at once",
  afterBackoff: "same server later",
};

function lookup(client: Client): Promise<unknown> {
  return client.directory.lookup({ keyspace: "k", key: utf8ToBytes("x") });
}

function renew(client: Client): Promise<unknown> {
  const owner = { nodeId: "n1", incarnation: 1 as Incarnation };
  return client.ownership.openSession({ owner, group: 1 as GroupId });
}

const KINDS = [
  ["read", "lookup", lookup],
  ["mutation", "openSession", renew],
] as const;

for (const [effect, method, run] of KINDS) {
  test.each(ALL_REASONS)(
    `after %s a ${effect} does what the contract prescribes`,
    async (reason) => {
      const network = new FakeNetwork();
      let isFirst = true;
      network.serve(ADDRESSES, () => {
        if (!isFirst) return answer();
        isFirst = false;
        return refuse(reason, { retryAfterMs: 300 });
      });
      const running = run(network.client(ADDRESSES)).then(
        () => "answered",
        (error: unknown) => error,
      );
      await network.clock.advance(4_000);
      const ended = await running;

      const calls = network.callsOf(method);
      const row = REASONS[reason];
      const action = ACTION_OF_RETRY[row.retry];
      if (action === "throws") {
        expect(ended).toBeInstanceOf(CoordinationError);
        const isUnknown = effect === "mutation" && row.outcome === "unknown";
        expect(ended).toMatchObject({ reason, outcome: isUnknown ? "unknown" : "notApplied" });
        expect(calls).toHaveLength(1);
        return;
      }
      expect(ended).toBe("answered");
      expect(calls).toHaveLength(2);
      const [first, second] = calls;
      const waitedMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
      if (action === "other server at once") {
        expect(second?.address).not.toBe(first?.address);
        expect(waitedMs).toBe(0);
      } else {
        expect(second?.address).toBe(first?.address);
        expect(waitedMs).toBeGreaterThanOrEqual(300);
        expect(waitedMs).toBeLessThanOrEqual(400);
      }
    },
  );
}

test("a server that swallows everything costs one attempt's limit, then another is asked", async () => {
  const network = new FakeNetwork();
  const client = network.client(ADDRESSES);
  network.serve(ADDRESSES, () => answer());
  await lookup(client);
  const black = network.addressesOf("lookup")[0] ?? "";
  network.handlers.delete(black);
  const running = lookup(client);
  await network.clock.advance(1_999);
  expect(network.callsOf("lookup")).toHaveLength(2);
  await network.clock.advance(1);
  await running;
  const [, swallowed, answered] = network.callsOf("lookup");
  expect(swallowed).toMatchObject({ address: black, timeoutMs: 2_000 });
  expect(answered?.address).not.toBe(black);
  expect((answered?.atMs ?? 0) - (swallowed?.atMs ?? 0)).toBe(2_000);

  // It is remembered: the next call does not start there.
  await lookup(client);
  expect(network.addressesOf("lookup").at(-1)).not.toBe(black);
});

test("while no server can serve, each is tried at once and then with growing pauses", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, () => refuse("TRANSIENT"));
  const failing = errorOf(lookup(network.client(ADDRESSES)));
  await network.clock.advance(10_000);
  const error = await failing;

  expect(error).toBeInstanceOf(CoordinationError);
  expect(error).toMatchObject({ reason: "TRANSIENT", outcome: "notApplied", retry: "otherServer" });
  const calls = network.callsOf("lookup");
  expect(new Set(calls.slice(0, 3).map((call) => call.address)).size).toBe(3);
  expect(calls[2]?.atMs).toBe(calls[0]?.atMs);
  const pauses = calls.slice(3).map((call, index) => call.atMs - (calls[index + 2]?.atMs ?? 0));
  expect(pauses[0]).toBeGreaterThanOrEqual(25);
  expect(pauses[0]).toBeLessThanOrEqual(50);
  for (const pause of pauses) expect(pause).toBeLessThanOrEqual(1_000);
  expect(Math.max(...pauses)).toBeGreaterThan(500);
  // 5 s: three at once, five doublings to 1 s, then about one a second, then what is left.
  expect(calls.length).toBeLessThan(24);
  expect((error as CoordinationError).attempts).toHaveLength(calls.length);
  expect((error as CoordinationError).message).not.toContain("\n");
});

test("a deadline that ends a mutation without an answer leaves its outcome unknown", async () => {
  const network = new FakeNetwork();
  const failing = errorOf(renew(network.client(ADDRESSES)));
  await network.clock.advance(5_100);
  const error = await failing;
  expect(error).toMatchObject({ reason: "UNCERTAIN", outcome: "unknown", retry: "sameRequest" });
  const limits = network.callsOf("openSession").map((call) => call.timeoutMs);
  expect(limits).toEqual([2_000, 2_000, 1_000]);
});

test("one uncertain attempt keeps the outcome unknown, whatever later attempts are refused with", async () => {
  const network = new FakeNetwork();
  let count = 0;
  network.serve(ADDRESSES, () => refuse(count++ === 0 ? "UNCERTAIN" : "STALE_INCARNATION"));
  const error = await errorOf(renew(network.client(ADDRESSES)));
  expect(error).toMatchObject({ reason: "STALE_INCARNATION", outcome: "unknown" });
});

test("a delay that outlasts the deadline is not waited for", async () => {
  const network = new FakeNetwork();
  network.serve(ADDRESSES, () => refuse("SESSION_LIVE", { retryAfterMs: 8_000 }));
  const error = await errorOf(renew(network.client(ADDRESSES)));
  expect(error).toMatchObject({ reason: "SESSION_LIVE", outcome: "notApplied" });
  expect((error as CoordinationError).refusal.retryAfterMs).toBe(8_000);
  expect(network.clock.nowMs()).toBe(1_000);
});

test("a channel that never ends its call is given up a little later", async () => {
  const network = new FakeNetwork();
  const client = network.client(["a:1"]);
  network.serve(["a:1"], () => new Promise(() => {}));
  const failing = errorOf(
    client.directory.lookup({ keyspace: "k", key: utf8ToBytes("x") }, { deadlineMs: 300 }),
  );
  await network.clock.advance(399);
  expect(network.clock.pendingCount).toBe(1);
  await network.clock.advance(1);
  expect(await failing).toMatchObject({ reason: "TRANSIENT", outcome: "notApplied" });
});

test("the leader that an answer names is asked next, at the address the cluster states", async () => {
  const network = new FakeNetwork();
  network.serve(["a:1", "d:1"], (method) =>
    method === "getStatus" ? status(["a:1", "d:1"]) : answer({ leaderServerId: 2 }),
  );
  const client = network.client(["a:1"]);
  await renew(client);
  await network.clock.settle();
  expect(network.callsOf("getStatus")).toHaveLength(1);
  await renew(client);
  expect(network.addressesOf("openSession")).toEqual(["a:1", "d:1"]);
});

test("a leader that did not answer is passed over for a while, though others still name it", async () => {
  const network = new FakeNetwork();
  for (const [index, address] of ADDRESSES.entries()) {
    network.serve([address], () => answer({ serverId: index + 1, leaderServerId: 2 }));
  }
  const client = network.client(ADDRESSES);
  for (let call = 0; call < 4; call++) await renew(client);
  expect(network.addressesOf("openSession").at(-1)).toBe("b:1");
  network.handlers.delete("b:1");
  const running = renew(client);
  await network.clock.advance(2_000);
  await running;
  const before = network.callsOf("openSession").length;
  await renew(client);
  expect(network.addressesOf("openSession").slice(before)).not.toContain("b:1");
  await network.clock.advance(6_000);
  const last = errorOf(renew(client));
  await network.clock.settle();
  expect(network.addressesOf("openSession").at(-1)).toBe("b:1");
  client.close();
  await last;
});

test("a cancelled call ends at once and leaves nothing waiting", async () => {
  const network = new FakeNetwork();
  const client = network.client(ADDRESSES);
  const controller = new AbortController();
  const owner = { nodeId: "n1", incarnation: 1 as Incarnation };
  const { signal } = controller;
  const failing = errorOf(client.ownership.openSession({ owner, group: 1 as GroupId }, { signal }));
  await network.clock.advance(100);
  controller.abort();
  expect(await failing).toMatchObject({ reason: "UNCERTAIN", outcome: "unknown" });
  expect(network.clock.pendingCount).toBe(0);
});

test("closing the client ends its calls and its channels", async () => {
  const network = new FakeNetwork();
  const client = network.client(ADDRESSES);
  const failing = errorOf(lookup(client));
  await network.clock.advance(100);
  client.close();
  expect(await failing).toMatchObject({ outcome: "notApplied" });
  expect(network.closed).toHaveLength(1);
  expect(network.clock.pendingCount).toBe(0);
});
