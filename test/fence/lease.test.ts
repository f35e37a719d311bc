// The lease keeper: what a renewal's answer extends, what it may not, and what takes away.
import { expect, test } from "vitest";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { deadlineOf } from "../../src/fence/hold.ts";
import type { SentRenewal } from "../../src/fence/renewal.ts";
import type { HoldChange } from "../../src/wire/api.ts";
import {
  change,
  changesFrame,
  header,
  progressFrame,
  record,
  snapshotFrame,
} from "../client/support.ts";
import { Bench, durations, epoch, holdChange, ms, ours, renewAnswer } from "./support.ts";

/** A bench that holds these ranges, as of a revision. */
function holding(atRevision: number, ...ranges: ReturnType<typeof ours>[]): Bench {
  const bench = new Bench();
  bench.step({ kind: "frame", frame: snapshotFrame(atRevision, ranges) });
  const accepted = ranges.map(({ descriptor }) => {
    return { rangeId: descriptor.rangeId, epoch: descriptor.epoch };
  });
  bench.step({ kind: "accepted", ranges: accepted });
  return bench;
}

function sentBy(bench: Bench): SentRenewal {
  const sent = bench.keeper.renewal(ms(bench.nowMs));
  if (sent === undefined) throw new Error("there is no view to renew");
  return sent;
}

function renewed(
  bench: Bench,
  atRevision: number,
  changes: readonly HoldChange[] = [],
  sent: SentRenewal = sentBy(bench),
): string[] {
  const events = bench.step({ kind: "renewed", sent, answer: renewAnswer(atRevision, changes) });
  return events.flatMap((event) => (event.kind === "extended" ? event.rangeIds : []));
}

const R1 = ours(5, { id: "r1", end: "m" });
const R2 = ours(6, { id: "r2", start: "m" });

test("a renewal extends all that was held at as_of, counted from its first send", () => {
  const bench = holding(10, R1, R2).at(500);
  const sent = sentBy(bench);
  expect(sent.asOf).toBe(10);
  bench.at(2_500);
  expect(renewed(bench, 12, [], sent)).toEqual(["r1", "r2"]);
  expect(bench.keeper.hold("r1")?.deadlineMs).toBe(deadlineOf(ms(500), 10_000));
});

test("an answer that comes after the whole lease makes nothing servable (B03)", () => {
  const bench = holding(10, R1);
  const sent = sentBy(bench);
  bench.at(10_000);
  renewed(bench, 12, [], sent);
  expect(bench.keeper.hold("r1")?.kind).toBe("expired");
});

test("a range granted after as_of is not extended, not even when the answer shows the grant", () => {
  const bench = holding(10, R1);
  const sent = sentBy(bench);
  const granted = ours(11, { id: "r2", start: "m" });
  bench.step({
    kind: "frame",
    frame: changesFrame([[11, [change("granted", undefined, granted)]]]),
  });
  expect(renewed(bench, 12, [holdChange("granted", 11, granted)], sent)).toEqual(["r1"]);
  expect(bench.keeper.hold("r2")?.deadlineMs).toBeUndefined();
});

test.each([
  ["a recorded successor", [holdChange("successorSet", 11, R1)], ["r2"]],
  [
    "a successor set and lifted again",
    [holdChange("successorSet", 11, R1), holdChange("successorLifted", 12, R1)],
    ["r1", "r2"],
  ],
  ["an expiry", [holdChange("expired", 11, R1)], ["r2"]],
  ["a release", [holdChange("released", 11, R1)], ["r2"]],
  [
    "an expiry and a new grant, whose epoch is above as_of",
    [holdChange("expired", 11, R1), holdChange("granted", 12, ours(12, { id: "r1", end: "m" }))],
    ["r2"],
  ],
  [
    "a late word of an older epoch",
    [holdChange("expired", 11, ours(3, { end: "m" }))],
    ["r1", "r2"],
  ],
] as [string, HoldChange[], string[]][])(
  "the changes in the answer decide: %s",
  (_what, changes, expected) => {
    expect(renewed(holding(10, R1, R2), 13, changes)).toEqual(expected);
  },
);

test("an end in the answer ends the hold at once, and the lagging watch can't revive it", () => {
  const bench = holding(10, R1);
  const sent = sentBy(bench);
  renewed(bench, 20, [holdChange("expired", 15, R1)], sent);
  expect(bench.keeper.hold("r1")).toBeUndefined();
  // The watch is still before 15, and shows the range as ours.
  const accepted = change("accepted", R1, { ...R1, acceptedEpoch: epoch(5) });
  expect(bench.kinds({ kind: "frame", frame: changesFrame([[12, [accepted]]]) })).toEqual([]);
  expect(renewed(bench, 21)).toEqual([]);
  expect(bench.keeper.hold("r1")).toBeUndefined();
  // A new grant is a new hold.
  const again = ours(22, { id: "r1", end: "m" });
  const changes = [
    [15, [change("expired", R1, record({ epoch: 5, end: "m" }))]],
    [22, [change("granted", record({ epoch: 5, end: "m" }), again)]],
  ] as const;
  expect(bench.kinds({ kind: "frame", frame: changesFrame(changes) })).toEqual(["granted"]);
});

test("a later view takes away from a late answer, and never adds to it", () => {
  const bench = holding(10, R1);
  const sent = sentBy(bench);
  const gone = change("expired", R1, record({ epoch: 5, end: "m" }));
  const other = ours(13, { id: "r2", start: "m" });
  const frame = changesFrame([
    [12, [gone]],
    [13, [change("granted", undefined, other)]],
  ]);
  bench.step({ kind: "frame", frame });
  bench.step({ kind: "accepted", ranges: [{ rangeId: "r2", epoch: epoch(13) }] });
  expect(renewed(bench, 11, [], sent)).toEqual([]);
  expect(bench.keeper.hold("r1")).toBeUndefined();
  expect(bench.keeper.hold("r2")?.deadlineMs).toBeUndefined();
});

test("a late answer for an earlier epoch moves nothing of the present one", () => {
  const bench = holding(10, R1);
  const sent = sentBy(bench);
  const unowned = record({ epoch: 5, end: "m" });
  const again = ours(13, { id: "r1", end: "m" });
  const frame = changesFrame([
    [12, [change("expired", R1, unowned)]],
    [13, [change("granted", unowned, again)]],
  ]);
  expect(bench.kinds({ kind: "frame", frame })).toEqual(["ended", "granted"]);
  expect(renewed(bench, 11, [], sent)).toEqual([]);
  expect(bench.keeper.hold("r1")).toMatchObject({ epoch: 13, deadlineMs: undefined });
});

test("an older answer that comes late does not shorten a deadline", () => {
  const bench = holding(10, R1);
  const early = sentBy(bench);
  bench.at(3_000);
  renewed(bench, 12);
  const deadlineMs = bench.keeper.hold("r1")?.deadlineMs;
  bench.at(3_500);
  renewed(bench, 11, [], early);
  expect(bench.keeper.hold("r1")?.deadlineMs).toBe(deadlineMs);
});

test.each([
  ["below as_of", 9, []],
  ["with a change at or below as_of", 12, [holdChange("successorLifted", 10, R1)]],
  ["with a change above its own revision", 12, [holdChange("successorLifted", 13, R1)]],
  [
    "with changes out of order",
    14,
    [holdChange("successorLifted", 13, R1), holdChange("successorLifted", 12, R1)],
  ],
] as [string, number, HoldChange[]][])(
  "an answer %s extends nothing",
  (_what, atRevision, changes) => {
    const bench = holding(10, R1);
    expect(renewed(bench, atRevision, changes)).toEqual([]);
    expect(bench.keeper.hold("r1")?.deadlineMs).toBeUndefined();
  },
);

test("a keyspace whose duration the answer leaves out was not extended", () => {
  const bench = holding(10, R1, ours(7, { id: "o1", keyspace: "other" }));
  const sent = sentBy(bench);
  const answer = renewAnswer(12, [], durations(4_000, "other"));
  bench.step({ kind: "renewed", sent, answer });
  expect(bench.keeper.hold("r1")?.deadlineMs).toBeUndefined();
  expect(bench.keeper.hold("o1")?.deadlineMs).toBe(deadlineOf(ms(0), 4_000));
});

test("what was released here is excepted from renewals until the watch shows its end", () => {
  const bench = holding(10, R1, R2);
  renewed(bench, 11);
  expect(bench.kinds({ kind: "released", rangeIds: ["r1", "not ours"] })).toEqual(["ended"]);
  const sent = sentBy(bench);
  expect(sent.except).toEqual([{ keyspace: "k", span: R1.descriptor.span }]);
  expect(renewed(bench, 12, [], sent)).toEqual(["r2"]);
  const gone = change("released", R1, record({ epoch: 5, end: "m" }));
  bench.step({ kind: "frame", frame: changesFrame([[13, [gone]]]) });
  expect(sentBy(bench).except).toEqual([]);
});

test("no frame, accept or clock ever moves a deadline (law 10)", () => {
  const bench = holding(10, R1);
  renewed(bench, 11);
  const deadlineMs = bench.keeper.hold("r1")?.deadlineMs;
  bench.at(4_000);
  const accepted = { ...R1, acceptedEpoch: epoch(5) };
  bench.step({ kind: "frame", frame: snapshotFrame(30, [accepted]) });
  bench.step({ kind: "frame", frame: progressFrame(40) });
  bench.step({ kind: "accepted", ranges: [{ rangeId: "r1", epoch: epoch(5) }] });
  bench.step({ kind: "clock" });
  expect(bench.keeper.hold("r1")?.deadlineMs).toBe(deadlineMs);
  expect(bench.keeper.asOf).toBe(40);
});

test("a grant to another incarnation of the same node is not ours", () => {
  const bench = new Bench();
  const frame = snapshotFrame(10, [ours(5, { incarnation: 2 }), ours(6, { id: "r2", node: "n2" })]);
  expect(bench.kinds({ kind: "frame", frame })).toEqual([]);
  expect(bench.keeper.holds()).toEqual([]);
});

test("a range lapsed only here is served again as a new hold, if its new deadline is ahead (law 8)", () => {
  const bench = holding(10, R1);
  renewed(bench, 11);
  const before = bench.keeper.hold("r1");
  bench.at(9_600);
  const sent = sentBy(bench);
  // No clock input in between: the lapse is noticed all the same.
  const events = bench.step({ kind: "renewed", sent, answer: renewAnswer(15) });
  expect(events.map((event) => event.kind)).toEqual(["expired", "extended", "held"]);
  const after = bench.keeper.hold("r1");
  expect(after).toMatchObject({ kind: "held", epoch: before?.epoch });
  expect(after?.number).not.toBe(before?.number);
});

test("nothing is renewed before the watch has shown what is held (law 8)", () => {
  const fresh = new Bench();
  fresh.step({ kind: "sessionOpened", durations: [] });
  expect(fresh.keeper.renewal(ms(0))).toBeUndefined();
  fresh.step({ kind: "frame", frame: snapshotFrame(6, [R1]) });
  expect(fresh.keeper.renewal(ms(0))?.asOf).toBe(6);
});

test("a session that ended takes everything with it, however late the watch", () => {
  const bench = holding(10, R1, R2);
  renewed(bench, 11);
  const late = sentBy(bench);
  expect(bench.kinds({ kind: "sessionEnded" })).toEqual(["ended", "ended"]);
  expect(renewed(bench, 12, [], late)).toEqual([]);
  expect(bench.kinds({ kind: "frame", frame: progressFrame(11) })).toEqual([]);
  expect(bench.keeper.holds()).toEqual([]);
});

test("the answer to a grant of our own makes a hold and its deadline", () => {
  const bench = holding(10, R1);
  const range = ours(14, { id: "r2", start: "m" });
  const outcome = {
    rangeId: "r2",
    kind: "granted",
    range,
    leaseDurationMs: 6_000,
    waitMs: 0,
  } as const;
  const answer = { header: header({ revision: 14 }), outcomes: [outcome], replayed: false };
  const input = { kind: "grantAnswered", firstSentMs: ms(100), answer } as const;
  expect(bench.at(200).kinds(input)).toEqual(["granted"]);
  expect(bench.keeper.hold("r2")?.deadlineMs).toBe(deadlineOf(ms(100), 6_000));
  // A watch that has not come so far does not end it; a snapshot that has, does.
  bench.step({ kind: "frame", frame: snapshotFrame(13, [R1]) });
  expect(bench.keeper.hold("r2")).toBeDefined();
  bench.step({ kind: "frame", frame: snapshotFrame(15, [R1]) });
  expect(bench.keeper.hold("r2")).toBeUndefined();
  // And once it has been seen to end, the answer's copy revives nothing.
  bench.step(input);
  expect(bench.keeper.hold("r2")).toBeUndefined();
});

test("frames that are older than the view change nothing", () => {
  const bench = holding(20, R2);
  const grant = change("granted", undefined, R1);
  const old = [changesFrame([[15, [grant]]]), snapshotFrame(19, [R1]), progressFrame(12)];
  for (const frame of old) expect(bench.kinds({ kind: "frame", frame })).toEqual([]);
  expect(bench.keeper.asOf).toBe(20);
  expect(bench.keeper.holds()).toHaveLength(1);
});

function grantAnswered(bench: Bench, range: ReturnType<typeof ours>): string[] {
  const { rangeId, epoch: granted } = range.descriptor;
  const outcome = { rangeId, kind: "granted", range, leaseDurationMs: 6_000, waitMs: 0 } as const;
  const answer = { header: header({ revision: granted }), outcomes: [outcome], replayed: false };
  return bench.kinds({ kind: "grantAnswered", firstSentMs: ms(bench.nowMs), answer });
}

test("a watch that is behind a grant of our own does not end it by an older end", () => {
  const bench = holding(10, R1);
  const again = ours(14, { id: "r1", end: "m" });
  expect(grantAnswered(bench, again)).toEqual(["ended", "granted"]);
  const gone = change("expired", R1, record({ epoch: 5, end: "m" }));
  expect(bench.kinds({ kind: "frame", frame: changesFrame([[12, [gone]]]) })).toEqual([]);
  expect(bench.keeper.hold("r1")).toMatchObject({ epoch: 14 });
});

test("an end that was seen ahead of the watch is remembered until the watch has passed it", () => {
  const bench = holding(10, R1);
  const granted = ours(14, { id: "r2", start: "m" });
  grantAnswered(bench, granted);
  renewed(bench, 18, [holdChange("granted", 14, granted), holdChange("expired", 16, granted)]);
  expect(bench.keeper.hold("r2")).toBeUndefined();
  bench.step({ kind: "frame", frame: progressFrame(12) });
  const grant = change("granted", undefined, granted);
  expect(bench.kinds({ kind: "frame", frame: changesFrame([[14, [grant]]]) })).toEqual([]);
  expect(bench.keeper.hold("r2")).toBeUndefined();
});

test("holds are found by key, and a range that left by where it went", () => {
  const bench = holding(10, R1, R2);
  expect(bench.keeper.find("k", utf8ToBytes("z"))?.epoch).toBe(6);
  expect(bench.keeper.find("k", utf8ToBytes("a"))?.epoch).toBe(5);
  expect(bench.keeper.find("other", utf8ToBytes("a"))).toBeUndefined();
  const taken = record({ id: "r1", end: "m", epoch: 11, node: "n2" });
  const events = bench.step({
    kind: "frame",
    frame: changesFrame([[11, [change("granted", R1, taken)]]]),
  });
  expect(events).toMatchObject([{ kind: "ended", why: "successor" }]);
  expect(bench.keeper.find("k", utf8ToBytes("a"))).toBeUndefined();
  expect(bench.keeper.findDeparted("k", utf8ToBytes("a"))).toBe(taken);
});

test("the next change by time alone is known in advance", () => {
  const bench = holding(10, R1);
  expect(bench.keeper.nextChangeMs()).toBeUndefined();
  renewed(bench, 11);
  expect(bench.keeper.nextChangeMs()).toBe(6_666);
  bench.at(6_666).step({ kind: "clock" });
  expect(bench.keeper.nextChangeMs()).toBe(deadlineOf(ms(0), 10_000));
});
