// `cadastre node list`, and `cadastre node run` around a seat that the test plays.
import { expect, test } from "vitest";
import type {
  Epoch,
  GroupId,
  Incarnation,
  MonotonicMs,
  Revision,
} from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { NodeData } from "../../../src/fence/level/node-data.ts";
import { NodeDataError } from "../../../src/fence/level/node-data.ts";
import type { Seat, SeatHold, SeatOptions } from "../../../src/fence/seat.ts";
import {
  type SeatEvent,
  SeatEventQueue,
  type TimelessSeatEvent,
} from "../../../src/fence/seat-events.ts";
import { FakeDirectory, refusal } from "./fake-directory.ts";
import { runVerb, type VerbRun } from "./run-verb.ts";

const GROUP = 1 as GroupId;
const RANGE = {
  group: GROUP,
  keyspace: "demo",
  rangeId: "1.102.0",
  span: { startKey: utf8ToBytes("g"), endKey: undefined },
  epoch: 120 as Epoch,
};

/** Plays these events; after "Ctrl-C" the seat is closed as the verb asks. */
class FakeSeat {
  readonly nodeId = "n1";
  readonly incarnation = 11 as Incarnation;
  readonly queue = new SeatEventQueue();
  closedWith: { readonly release: boolean } | undefined;
  readonly #holds: readonly SeatHold[];

  constructor(events: readonly TimelessSeatEvent[], holds: readonly SeatHold[] = []) {
    this.#holds = holds;
    for (const event of events) this.push(event);
  }

  push(event: TimelessSeatEvent): void {
    this.queue.push({ ...event, atMs: 0 as MonotonicMs } as SeatEvent);
  }

  events(): AsyncIterable<SeatEvent> {
    return this.queue;
  }

  holds(): readonly SeatHold[] {
    return this.#holds;
  }

  close(options: { readonly release: boolean }): Promise<void> {
    this.closedWith ??= options;
    if (options.release) this.push({ kind: "ended", why: "released", ...RANGE });
    this.push({ kind: "stopped", reason: undefined, message: "closed by its process" });
    this.queue.end();
    return Promise.resolve();
  }
}

const DATA: NodeData = {
  dataUuid: "11111111-2222-3333-4444-555555555555",
  start: { bootId: "0".repeat(32), lockFile: "8:77", startCount: 5 },
  voidProof: () => Promise.resolve(),
  remember: () => Promise.resolve(),
  highWater: () => 0 as Epoch,
  close: () => Promise.resolve(),
};

const HELD: SeatHold = { ...RANGE, kind: "held", remainingMs: 9_000 };
const EVENTS: readonly TimelessSeatEvent[] = [
  {
    kind: "registered",
    nodeId: "n1",
    incarnation: 11 as Incarnation,
    predecessor: 9 as Incarnation,
    proven: true,
    groups: [GROUP],
  },
  {
    kind: "refused",
    what: "openSession",
    group: GROUP,
    rangeId: undefined,
    reason: "SESSION_LIVE",
    message: "older leases",
    retryAfterMs: 500,
  },
  {
    kind: "refused",
    what: "openSession",
    group: GROUP,
    rangeId: undefined,
    reason: "SESSION_LIVE",
    message: "older leases",
    retryAfterMs: 400,
  },
  { kind: "sessionOpened", group: GROUP, revision: 119 as Revision, alreadyOpen: false },
  { kind: "granted", ...RANGE },
  { kind: "accepted", ...RANGE },
  { kind: "held", again: false, remainingMs: 9_200, ...RANGE },
  { kind: "renewed", group: GROUP, revision: 125 as Revision, rangeCount: 1, remainingMs: 9_400 },
  { kind: "suspect", remainingMs: 2_100, ...RANGE },
  { kind: "expired", ...RANGE },
];

async function runNode(
  seat: FakeSeat,
  options: readonly string[] = [],
  given: SeatOptions[] = [],
): Promise<VerbRun> {
  const fake = new FakeDirectory();
  fake.addKeyspace("demo");
  const interrupt = new AbortController();
  return runVerb(fake, ["node", "run", "n1", "--data-dir", "d", ...options], {
    interrupt,
    onOutput: (text) => {
      if (text.includes("expired")) setImmediate(() => interrupt.abort());
    },
    nodeWorld: {
      openNodeData: () => Promise.resolve(DATA),
      takeSeat: (seatOptions) => {
        given.push(seatOptions);
        return Promise.resolve(seat as unknown as Seat);
      },
    },
  });
}

test("the life of a lease, a line for each event; Ctrl-C releases; exit 0", async () => {
  const seat = new FakeSeat(EVENTS, [HELD]);
  const run = await runNode(seat);
  const range = "demo [g, +inf) epoch 120 (range 1.102.0)";
  expect(run.exit).toBe(0);
  expect(run.out.replaceAll("14:03:07.215  ", "")).toBe(
    [
      "registered as n1, incarnation 11 in the place of 9, which is dead",
      "waiting: leases of an earlier process of this node are still running out",
      "session open in group 1",
      `granted    ${range}`,
      `accepted   ${range}`,
      `serving    ${range}, 9.2s left`,
      "renewed    1 range, 9.4s left",
      `suspect    ${range}, 2.1s left`,
      `expired    ${range}: no longer served`,
      `ended      ${range}: released`,
      "stopped",
      "",
    ].join("\n"),
  );
  expect(run.err).toBe("releasing 1 range\n");
  expect(seat.closedWith).toEqual({ release: true });
});

test("--quiet leaves renewals out, --keep-on-exit releases nothing and says for how long", async () => {
  const seat = new FakeSeat(EVENTS, [HELD]);
  const run = await runNode(seat, ["--quiet", "--keep-on-exit"]);
  expect(run.exit).toBe(0);
  expect(run.out).not.toContain("renewed");
  expect(run.err).toContain("keeping 1 range: they stay with n1 for about 9s");
  expect(seat.closedWith).toEqual({ release: false });
});

test("JSON lines have the wall time, 64-bit numbers as strings, and the span", async () => {
  const run = await runNode(new FakeSeat(EVENTS), ["-o", "json"]);
  const lines = run.out.trim().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { kind: string });
  expect(events.find(({ kind }) => kind === "held")).toEqual({
    at: new Date(2026, 0, 2, 14, 3, 7, 215).toISOString(),
    kind: "held",
    again: false,
    remainingMs: 9_200,
    group: 1,
    keyspace: "demo",
    rangeId: "1.102.0",
    epoch: "120",
    start: { utf8: "g", hex: "67" },
    end: null,
  });
  expect(events[0]).toMatchObject({ kind: "registered", incarnation: "11", groups: [1] });
});

test("what it registers with comes from the command line", async () => {
  const given: SeatOptions[] = [];
  const argv = ["--zone", "z9", "--address", "h:1,h:2", "--label", "a=b=c", "--capacity", "7"];
  await runNode(new FakeSeat(EVENTS), argv, given);
  expect(given[0]).toMatchObject({
    nodeId: "n1",
    dataUuid: DATA.dataUuid,
    start: DATA.start,
    addresses: ["h:1", "h:2"],
    zone: "z9",
    labels: { a: "b=c" },
    capacity: 7,
  });
});

test("a seat that ends by itself is a failure with its reason", async () => {
  const message = "a later process of this node has registered";
  const stopped: TimelessSeatEvent = { kind: "stopped", reason: "STALE_INCARNATION", message };
  const seat = new FakeSeat([stopped]);
  seat.queue.end();
  const run = await runNode(seat);
  expect(run.exit).toBe(4);
  expect(run.err).toBe(`cadastre: the seat has ended: ${message}.\n`);
});

test("a second process on the same data directory is refused in one line", async () => {
  const error = new NodeDataError("locked", "d is in use by another process; stop it");
  const run = await runVerb(new FakeDirectory(), ["node", "run", "n1", "--data-dir", "d"], {
    nodeWorld: { openNodeData: () => Promise.reject(error) },
  });
  expect(run).toMatchObject({
    exit: 4,
    out: "",
    err: "cadastre: d is in use by another process; stop it.\n",
  });
});

test("a node id that belongs to another data directory is refused by name", async () => {
  const error = new CoordinationError({
    refusal: refusal("NODE_ID_TAKEN", "n1 is bound to another data directory"),
    outcome: "notApplied",
    attempts: [],
    requestId: undefined,
  });
  const run = await runVerb(new FakeDirectory(), ["node", "run", "n1", "--data-dir", "d"], {
    nodeWorld: {
      openNodeData: () => Promise.resolve(DATA),
      takeSeat: () => Promise.reject(error),
    },
  });
  expect(run.exit).toBe(4);
  expect(run.err).toContain("n1 is bound to another data directory");
});

test.each([
  [["run", "n1"], "--data-dir"],
  [["run", "n/1", "--data-dir", "d"], "id"],
  [["run", "n1", "--data-dir", "d", "--address", "nowhere"], "--address"],
  [["run", "n1", "--data-dir", "d", "--label", "novalue"], "--label"],
  [["run", "n1", "--data-dir", "d", "--label", "a=1", "--label", "a=2"], "twice"],
  [["run", "n1", "--data-dir", "d", "--capacity", "NaN"], "--capacity"],
  [["run", "n1", "--data-dir", "d", "--capacity=-5"], "--capacity"],
])("%j is refused before anything is opened (B40)", async (argv, named) => {
  const run = await runVerb(new FakeDirectory(), ["node", ...argv]);
  expect(run).toMatchObject({ exit: 2, out: "" });
  expect(run.err).toContain(named);
});

test("the list shows sessions, ranges and where nodes are", async () => {
  const fake = new FakeDirectory();
  fake.addNode("n1");
  fake.addNode("n2", { sessionOpen: false });
  const run = await runVerb(fake, ["node", "list"]);
  expect(run.out).toBe(
    [
      "NODE  INCARNATION  SESSION     RANGES  ZONE  CAPACITY  ADDRESSES        LABELS",
      "n1             11  open, 7.2s       0  z1           -  n1.example:7000  -",
      "n2             12  none             0  z1           -  n2.example:7000  -",
      "",
    ].join("\n"),
  );
  const json = await runVerb(fake, ["node", "list", "-o", "json"]);
  expect(json.json()).toMatchObject({
    nodes: [{ nodeId: "n1", incarnation: "11", rangesOwned: "0", sessionRemainingMs: "7250" }, {}],
  });
});
