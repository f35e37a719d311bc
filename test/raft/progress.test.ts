import { expect, test } from "vitest";
import type { LogIndex, LogTimeMs, Term } from "../../src/base/brands.ts";
import { Progress, type ProgressMode } from "../../src/raft/progress.ts";
import { replica } from "./checked-core.ts";

function at(index: number): LogIndex {
  return index as LogIndex;
}

/** Where the leader's log begins. */
const BASE = at(6);
const SNAPSHOT = { index: at(7), term: 1 as Term, timeMs: 0 as LogTimeMs };

/** Matches up to 5; in replicate mode, 6-7 and 8 are under way; in snapshot mode one up to 7. */
function progressIn(mode: ProgressMode): Progress {
  const progress = new Progress(replica(2), at(10));
  progress.sent(at(10));
  progress.accepted(at(5), BASE);
  if (mode === "replicate") {
    progress.sent(at(7));
    progress.sent(at(8));
  } else if (mode === "probe") {
    progress.startProbing();
    progress.sent(at(5));
  } else {
    progress.offered(SNAPSHOT);
  }
  return progress;
}

interface Expected {
  readonly returns: boolean;
  readonly mode: ProgressMode;
  readonly matchIndex: number;
  readonly nextIndex: number;
  readonly inflight: number;
}

const EVENTS = {
  acceptedAll: (progress: Progress) => progress.accepted(at(8), BASE),
  acceptedSome: (progress: Progress) => progress.accepted(at(7), BASE),
  acceptedKnown: (progress: Progress) => progress.accepted(at(5), BASE),
  acceptedLate: (progress: Progress) => progress.accepted(at(3), BASE),
  rejectedNext: (progress: Progress) => progress.rejected(at(8), at(6)),
  rejectedMatched: (progress: Progress) => progress.rejected(at(5), at(2)),
  disconnected: (progress: Progress) => {
    progress.disconnected();
    return false;
  },
} as const;

const EXPECTED: Record<ProgressMode, Record<keyof typeof EVENTS, Expected>> = {
  probe: {
    acceptedAll: { returns: true, mode: "replicate", matchIndex: 8, nextIndex: 9, inflight: 0 },
    acceptedSome: { returns: true, mode: "replicate", matchIndex: 7, nextIndex: 8, inflight: 0 },
    acceptedKnown: { returns: true, mode: "replicate", matchIndex: 5, nextIndex: 6, inflight: 0 },
    acceptedLate: { returns: false, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 1 },
    rejectedNext: { returns: false, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 1 },
    rejectedMatched: { returns: false, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 1 },
    disconnected: { returns: false, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 0 },
  },
  replicate: {
    acceptedAll: { returns: true, mode: "replicate", matchIndex: 8, nextIndex: 9, inflight: 0 },
    acceptedSome: { returns: true, mode: "replicate", matchIndex: 7, nextIndex: 9, inflight: 1 },
    acceptedKnown: { returns: false, mode: "replicate", matchIndex: 5, nextIndex: 9, inflight: 2 },
    acceptedLate: { returns: false, mode: "replicate", matchIndex: 5, nextIndex: 9, inflight: 2 },
    rejectedNext: { returns: true, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 0 },
    rejectedMatched: {
      returns: false,
      mode: "replicate",
      matchIndex: 5,
      nextIndex: 9,
      inflight: 2,
    },
    disconnected: { returns: false, mode: "probe", matchIndex: 5, nextIndex: 6, inflight: 0 },
  },
  snapshot: {
    acceptedAll: { returns: true, mode: "replicate", matchIndex: 8, nextIndex: 9, inflight: 0 },
    acceptedSome: { returns: true, mode: "replicate", matchIndex: 7, nextIndex: 8, inflight: 0 },
    acceptedKnown: { returns: false, mode: "snapshot", matchIndex: 5, nextIndex: 6, inflight: 0 },
    acceptedLate: { returns: false, mode: "snapshot", matchIndex: 5, nextIndex: 6, inflight: 0 },
    rejectedNext: { returns: false, mode: "snapshot", matchIndex: 5, nextIndex: 6, inflight: 0 },
    rejectedMatched: {
      returns: false,
      mode: "snapshot",
      matchIndex: 5,
      nextIndex: 6,
      inflight: 0,
    },
    disconnected: { returns: false, mode: "snapshot", matchIndex: 5, nextIndex: 6, inflight: 0 },
  },
};

for (const [mode, byEvent] of Object.entries(EXPECTED)) {
  for (const [event, expected] of Object.entries(byEvent)) {
    test(`in ${mode} mode: ${event}`, () => {
      const progress = progressIn(mode as ProgressMode);
      const returns = EVENTS[event as keyof typeof EVENTS](progress);
      expect({
        returns,
        mode: progress.mode,
        matchIndex: progress.matchIndex,
        nextIndex: progress.nextIndex,
        inflight: progress.inflightMessages,
      }).toEqual(expected);
    });
  }
}

test("probing goes down to the hint, below the probed index, never to what matches", () => {
  const probing = (): Progress => {
    const progress = new Progress(replica(2), at(10));
    progress.sent(at(10));
    return progress;
  };
  const toHint = probing();
  expect(toHint.rejected(at(9), at(4))).toBe(true);
  expect([toHint.nextIndex, toHint.inflightMessages]).toEqual([5, 0]);
  const hintTooHigh = probing();
  hintTooHigh.rejected(at(9), at(30));
  expect(hintTooHigh.nextIndex).toBe(9);
  const toZero = probing();
  toZero.rejected(at(9), at(0));
  expect(toZero.nextIndex).toBe(1);
});

test("a rejection of another probe than the present one is ignored", () => {
  const progress = new Progress(replica(2), at(10));
  progress.sent(at(10));
  progress.rejected(at(9), at(4));
  progress.sent(at(5));
  expect(progress.rejected(at(9), at(1))).toBe(false);
  expect(progress.nextIndex).toBe(5);
});

test("the window counts messages in replicate mode, and is one in probe mode", () => {
  const progress = progressIn("replicate");
  expect([progress.mayAppend(2), progress.mayAppend(3)]).toEqual([false, true]);
  progress.startProbing();
  expect(progress.mayAppend(1)).toBe(true);
  progress.sent(at(5));
  expect(progress.mayAppend(9)).toBe(false);
});

test("what is open for a whole heartbeat interval is asked for again, once", () => {
  const progress = progressIn("replicate");
  progress.heartbeatSent();
  expect(progress.takeResend()).toBe(false);
  progress.heartbeatSent();
  expect(progress.takeResend()).toBe(true);
  expect(progress.takeResend()).toBe(false);
});

test("an acknowledgement in the interval puts asking off", () => {
  const progress = progressIn("replicate");
  progress.heartbeatSent();
  progress.accepted(at(7), BASE);
  progress.heartbeatSent();
  expect(progress.takeResend()).toBe(false);
  progress.heartbeatSent();
  progress.accepted(at(8), BASE);
  expect(progress.takeResend()).toBe(false);
});

test("who awaits a snapshot is sent no appends, and is asked each interval", () => {
  const progress = progressIn("snapshot");
  expect([progress.mayAppend(9), progress.offeredSnapshot]).toEqual([false, SNAPSHOT]);
  progress.heartbeatSent();
  expect(progress.takeResend()).toBe(false);
  progress.heartbeatSent();
  expect([progress.takeResend(), progress.takeResend()]).toEqual([true, false]);
  progress.accepted(at(6), BASE);
  expect(progress.offeredSnapshot).toBeUndefined();
});

test("who is brought up with a snapshot needs what follows it, and then what it lacks", () => {
  const progress = progressIn("snapshot");
  expect(progress.neededIndex).toBe(SNAPSHOT.index);
  progress.accepted(at(7), BASE);
  expect([progress.mode, progress.neededIndex]).toEqual(["replicate", 7]);
  progress.sent(at(8));
  progress.accepted(at(8), BASE);
  progress.disconnected();
  expect([progress.mode, progress.neededIndex]).toEqual(["probe", 8]);
  expect(progressIn("replicate").neededIndex).toBeUndefined();
});

test("who holds the snapshot, and not what follows the log's new beginning, is probed", () => {
  const progress = progressIn("snapshot");
  expect(progress.accepted(at(7), at(9))).toBe(true);
  expect([progress.mode, progress.nextIndex, progress.neededIndex]).toEqual([
    "probe",
    8,
    undefined,
  ]);
});
