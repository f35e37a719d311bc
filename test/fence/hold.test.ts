// The states of a hold: the whole table of states and events, and the arithmetic of deadlines.
import { expect, test } from "vitest";
import { GUARD_MS } from "../../src/base/lease-timing.ts";
import { deadlineOf, type HoldKind, isServable } from "../../src/fence/hold.ts";
import type { LeaseEvent } from "../../src/fence/lease-steps.ts";
import { change, changesFrame, snapshotFrame } from "../client/support.ts";
import { Bench, epoch, holdChange, ms, ours, renewAnswer, revision } from "./support.ts";

const RANGE = { rangeId: "r1", epoch: epoch(5) };
const LEASE_MS = 10_000;
/** Of a renewal sent at 0: overdue twice at 6,666, over at 9,551.98. */
const SUSPECT_AT = 7_000;
const EXPIRED_AT = 9_600;

/** Brings a fresh keeper's only hold into a state; the clock says when that is. */
const REACH: Record<HoldKind, (bench: Bench) => void> = {
  granted: (bench) => {
    bench.step({ kind: "frame", frame: snapshotFrame(5, [ours(5)]) });
  },
  held: (bench) => {
    REACH.granted(bench);
    bench.step({ kind: "accepted", ranges: [RANGE] });
    extend(bench);
  },
  suspect: (bench) => {
    REACH.held(bench);
    bench.at(SUSPECT_AT).step({ kind: "clock" });
  },
  draining: (bench) => {
    REACH.held(bench);
    bench.step({ kind: "frame", frame: changesFrame([[6, [askedAt(6)]]]) });
  },
  closed: (bench) => {
    REACH.draining(bench);
    bench.step({ kind: "drained", ranges: [ASKED] });
  },
  expired: (bench) => {
    REACH.held(bench);
    bench.at(EXPIRED_AT).step({ kind: "clock" });
  },
  // By a renewal's answer: the watch lags, and may still show the range as ours.
  ended: (bench) => {
    REACH.held(bench);
    EVENTS["end in a renewal's answer"](bench);
  },
};

/** The hand-over that the states and events below are about. */
const ASKED = { ...RANGE, revision: revision(6) };

function askedAt(handOver: number): ReturnType<typeof change> {
  return change("successorSet", ours(5), ours(5, { successor: "n2", handOver }));
}

function unowned(): ReturnType<typeof ours>["descriptor"] {
  return { ...ours(5).descriptor, owner: undefined };
}

/** A renewal that is sent and answered at this moment. */
function extend(bench: Bench): readonly LeaseEvent[] {
  const sent = bench.keeper.renewal(ms(bench.nowMs));
  if (sent === undefined) throw new Error("there is no view to renew");
  return bench.step({ kind: "renewed", sent, answer: renewAnswer(20) });
}

const EVENTS = {
  accepted: (bench: Bench) => bench.step({ kind: "accepted", ranges: [RANGE] }),
  extended: extend,
  "two renewals overdue": (bench: Bench) =>
    bench.at(Math.max(bench.nowMs, SUSPECT_AT)).step({ kind: "clock" }),
  "deadline passed": (bench: Bench) => bench.at(EXPIRED_AT).step({ kind: "clock" }),
  "expired at the service": (bench: Bench) => {
    const frame = changesFrame([
      [7, [change("expired", ours(5), { ...ours(5), descriptor: unowned() })]],
    ]);
    return bench.step({ kind: "frame", frame });
  },
  "end in a renewal's answer": (bench: Bench) => {
    const sent = { firstSentMs: ms(0), asOf: revision(5), except: [], view: new Map() };
    const answer = renewAnswer(20, [holdChange("expired", 6, ours(5))]);
    return bench.step({ kind: "renewed", sent, answer });
  },
  released: (bench: Bench) => bench.step({ kind: "released", rangeIds: ["r1"] }),
  "session ended": (bench: Bench) => bench.step({ kind: "sessionEnded" }),
  "accept refused": (bench: Bench) =>
    bench.step({ kind: "refused", range: RANGE, revision: revision(8) }),
  "asked to hand over": (bench: Bench) =>
    bench.step({ kind: "frame", frame: changesFrame([[8, [askedAt(8)]]]) }),
  "taken back": (bench: Bench) => {
    const lifted = change("successorLifted", ours(5, { successor: "n2", handOver: 6 }), ours(5));
    return bench.step({ kind: "frame", frame: changesFrame([[8, [lifted]]]) });
  },
  drained: (bench: Bench) => bench.step({ kind: "drained", ranges: [ASKED] }),
  "hand-over refused": (bench: Bench) => bench.step({ kind: "handOverRefused", ranges: [ASKED] }),
  "handed over": (bench: Bench) =>
    bench.step({ kind: "handedOver", ranges: [ASKED], revision: revision(9) }),
} satisfies Record<string, (bench: Bench) => readonly LeaseEvent[]>;
type EventName = keyof typeof EVENTS;

const ENDS = {
  "expired at the service": "ended",
  "end in a renewal's answer": "ended",
  released: "ended",
  "session ended": "ended",
  "accept refused": "ended",
} as const;

/** Words about a hand-over that this hold knows nothing of. */
const UNASKED = (kind: HoldKind) =>
  ({
    "taken back": kind,
    drained: kind,
    "hand-over refused": kind,
    "handed over": kind,
  }) as const;

/** Total: every state, every event. */
const TABLE: Record<HoldKind, Record<EventName, HoldKind>> = {
  granted: {
    accepted: "granted",
    extended: "granted",
    "two renewals overdue": "granted",
    "deadline passed": "granted",
    "asked to hand over": "granted",
    ...UNASKED("granted"),
    ...ENDS,
  },
  held: {
    accepted: "held",
    extended: "held",
    "two renewals overdue": "suspect",
    "deadline passed": "expired",
    "asked to hand over": "draining",
    ...UNASKED("held"),
    ...ENDS,
  },
  suspect: {
    accepted: "suspect",
    extended: "held",
    "two renewals overdue": "suspect",
    "deadline passed": "expired",
    "asked to hand over": "draining",
    ...UNASKED("suspect"),
    ...ENDS,
  },
  draining: {
    accepted: "draining",
    extended: "draining",
    "two renewals overdue": "draining",
    "deadline passed": "expired",
    "asked to hand over": "draining",
    "taken back": "held",
    drained: "closed",
    "hand-over refused": "held",
    "handed over": "ended",
    ...ENDS,
  },
  closed: {
    accepted: "closed",
    extended: "closed",
    "two renewals overdue": "closed",
    "deadline passed": "closed",
    "asked to hand over": "closed",
    "taken back": "closed",
    drained: "closed",
    "hand-over refused": "held",
    "handed over": "ended",
    ...ENDS,
  },
  expired: {
    accepted: "expired",
    extended: "held",
    "two renewals overdue": "expired",
    "deadline passed": "expired",
    "asked to hand over": "expired",
    ...UNASKED("expired"),
    ...ENDS,
  },
  ended: {
    accepted: "ended",
    extended: "ended",
    "two renewals overdue": "ended",
    "deadline passed": "ended",
    "asked to hand over": "ended",
    ...UNASKED("ended"),
    ...ENDS,
  },
};

const STATES = Object.keys(TABLE) as HoldKind[];
const CASES = STATES.flatMap((state) =>
  (Object.keys(EVENTS) as EventName[]).map((name) => [state, name, TABLE[state][name]] as const),
);

test.each(CASES)("%s, then %s: %s", (state, name, expected) => {
  const bench = new Bench();
  REACH[state](bench);
  const before = bench.keeper.hold("r1");
  expect(before?.kind ?? "ended").toBe(state);
  const events = EVENTS[name](bench);
  const after = bench.keeper.hold("r1");
  expect(after?.kind ?? "ended").toBe(expected);

  const isServed = after !== undefined && isServable(after, ms(bench.nowMs));
  expect(isServed).toBe(expected === "held" || expected === "suspect");
  expect(events.filter((event) => event.kind === "ended")).toHaveLength(
    expected === "ended" && state !== "ended" ? 1 : 0,
  );
  // A lapse shows in the hold's number, and nothing else changes it.
  if (after !== undefined) {
    const wasLost = state === "expired" || state === "closed";
    expect(after.number !== before?.number).toBe(wasLost && expected === "held");
  }
});

test("accepted and extended, in either order, make a granted range held", () => {
  for (const order of [
    ["accepted", "extended"],
    ["extended", "accepted"],
  ] as const) {
    const bench = new Bench();
    REACH.granted(bench);
    const kinds = order.flatMap((name) => EVENTS[name](bench).map((event) => event.kind));
    expect(kinds).toContain("held");
    expect(bench.keeper.hold("r1")?.kind).toBe("held");
  }
});

test("the deadline counts from the first send, less the clocks' error and the guard (law 10, B03)", () => {
  const deadlineMs = deadlineOf(ms(1_000), LEASE_MS);
  expect(deadlineMs).toBeCloseTo(1_000 + (LEASE_MS * 0.99) / 1.01 - GUARD_MS, 6);
  // An answer after a whole lease grants nothing.
  expect(deadlineMs).toBeLessThan(1_000 + LEASE_MS);
});

test("a word on an earlier request moves nothing that was closed for a later one (law 12)", () => {
  for (const kind of ["handOverRefused", "drained"] as const) {
    const bench = new Bench();
    REACH.closed(bench);
    bench.step({ kind: "frame", frame: changesFrame([[8, [askedAt(8)]]]) });
    expect(bench.kinds({ kind, ranges: [ASKED] })).toEqual([]);
    expect(bench.keeper.hold("r1")).toMatchObject({
      kind: "closed",
      handOver: { revision: 8, isDrained: true },
    });
  }
});

test("a request that was taken back is not taken for news when an older word of it comes late", () => {
  const bench = new Bench();
  REACH.draining(bench);
  const sent = bench.keeper.renewal(ms(0));
  if (sent === undefined) throw new Error("there is a view to renew");
  EVENTS["taken back"](bench);
  const record = ours(5, { successor: "n2", handOver: 6 });
  const answer = renewAnswer(7, [holdChange("successorSet", 7, record)]);
  bench.step({ kind: "renewed", sent, answer });
  expect(bench.keeper.hold("r1")?.kind).toBe("held");
});

test("a request that a renewal has told of is not taken back by an older frame", () => {
  const bench = new Bench();
  REACH.held(bench);
  const sent = bench.keeper.renewal(ms(0));
  if (sent === undefined) throw new Error("there is a view to renew");
  const record = ours(5, { successor: "n2", handOver: 9 });
  const answer = renewAnswer(20, [holdChange("successorSet", 9, record)]);
  bench.step({ kind: "renewed", sent, answer });
  expect(bench.keeper.hold("r1")?.kind).toBe("draining");
  const before = change("accepted", ours(5), ours(5));
  const frame = changesFrame([
    [8, [before]],
    [9, [change("successorSet", ours(5), record)]],
  ]);
  expect(bench.kinds({ kind: "frame", frame })).toEqual([]);
  expect(bench.keeper.hold("r1")?.kind).toBe("draining");
});
