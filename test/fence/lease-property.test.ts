// Law 8 and 10 against a model of the service: whatever is delayed, repeated, reordered or lost,
// and however both clocks err within their bounds, the owner gives up first and never believes in
// an extension that the service did not make.
import fc from "fast-check";
import { expect, test } from "vitest";
import { CLOCK_RATE_ERROR } from "../../src/base/lease-timing.ts";
import { type AskedRange, isHolding } from "../../src/fence/hold.ts";
import type { SentRenewal } from "../../src/fence/renewal.ts";
import type { RangeEpoch, RenewAnswer } from "../../src/wire/api.ts";
import { ServiceModel } from "./service-model.ts";
import { Bench, ms, revision } from "./support.ts";

const RATE_MIN = 1 - CLOCK_RATE_ERROR;
const RATE_MAX = 1 + CLOCK_RATE_ERROR;

type Op =
  | {
      readonly kind: "pass";
      readonly ms: number;
      readonly ownRate: number;
      readonly logRate: number;
    }
  | {
      readonly kind: "grantUs" | "grantThem" | "askForThem" | "withdraw" | "giveUp";
      readonly index: number;
    }
  | {
      readonly kind: "serveRenewal" | "deliverAnswer" | "serveHandOver" | "deliverHandOver";
      readonly index: number;
      readonly keep: boolean;
    }
  | {
      readonly kind:
        | "expire"
        | "progress"
        | "restartWatch"
        | "deliverFrame"
        | "accept"
        | "sendRenewal"
        | "tick"
        | "serveRelease"
        | "handOver"
        | "round";
    };

const rate = fc.double({ min: RATE_MIN, max: RATE_MAX, noNaN: true });
const index = fc.nat({ max: 7 });
const always = <Kind extends Op["kind"]>(kind: Kind): fc.Arbitrary<{ kind: Kind }> =>
  fc.constant({ kind });
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.integer({ min: 1, max: 1_500 }),
      ownRate: fc.oneof(rate, fc.constantFrom(RATE_MIN, RATE_MAX)),
      logRate: fc.oneof(rate, fc.constantFrom(RATE_MIN, RATE_MAX)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("grantUs" as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("grantThem" as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("withdraw" as const), index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("giveUp" as const), index }) },
  { weight: 3, arbitrary: always("round") },
  { weight: 4, arbitrary: always("sendRenewal") },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("serveRenewal" as const, "deliverAnswer" as const),
      index,
      keep: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: always("deliverFrame") },
  { weight: 3, arbitrary: always("accept") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { kind: "expire" as const },
      { kind: "progress" as const },
      { kind: "restartWatch" as const },
      { kind: "tick" as const },
      { kind: "serveRelease" as const },
    ),
  },
);

/** Everything above, and hand-overs: asked for, taken back, carried out and answered. */
const handOverOp: fc.Arbitrary<Op> = fc.oneof(
  { weight: 30, arbitrary: op },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("askForThem" as const, "withdraw" as const),
      index: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 6, arbitrary: always("handOver") },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom("serveHandOver" as const, "deliverHandOver" as const),
      index,
      keep: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: always("deliverFrame") },
  { weight: 4, arbitrary: always("round") },
);

class World {
  readonly service = new ServiceModel();
  readonly bench = new Bench();
  readonly requests: SentRenewal[] = [];
  readonly answers: { sent: SentRenewal; answer: RenewAnswer }[] = [];
  readonly releases: RangeEpoch[] = [];
  readonly handOvers: AskedRange[] = [];
  readonly outcomes: { asked: AskedRange; refused: string | undefined; revision: number }[] = [];
  handedOverCount = 0;
  keptCount = 0;
  servedCount = 0;
  extendedCount = 0;
  lapsedCount = 0;

  constructor() {
    this.service.restartWatch();
  }

  run(one: Op): void {
    const { service, bench } = this;
    switch (one.kind) {
      case "pass":
        bench.nowMs += one.ms * one.ownRate;
        service.logTimeMs += one.ms * one.logRate;
        return;
      case "grantUs":
        return service.grant(one.index, "n1");
      case "grantThem":
        return service.grant(one.index, "n2");
      case "askForThem":
        return service.grant(one.index, "n2", true);
      case "handOver":
        return this.#handOver();
      case "serveHandOver": {
        const asked = take(this.handOvers, one.index, one.keep);
        if (asked === undefined) return;
        const refused = service.release(asked.rangeId, asked.epoch, asked.revision);
        this.outcomes.push({ asked, refused, revision: service.revision });
        return;
      }
      case "deliverHandOver": {
        const outcome = take(this.outcomes, one.index, one.keep);
        if (outcome !== undefined) this.#hearOfHandOver(outcome);
        return;
      }
      case "withdraw":
        return service.withdrawSuccessor(one.index);
      case "giveUp":
        return this.#giveUp(one.index);
      case "expire":
        return service.expire();
      case "progress":
        return service.progress();
      case "restartWatch":
        return service.restartWatch();
      case "deliverFrame": {
        const frame = service.frames.shift();
        if (frame !== undefined) bench.step({ kind: "frame", frame });
        return;
      }
      case "accept": {
        const ranges = bench.keeper.holds().map((hold) => {
          return { rangeId: hold.record.descriptor.rangeId, epoch: hold.epoch };
        });
        bench.step({ kind: "accepted", ranges });
        return;
      }
      case "sendRenewal": {
        const sent = bench.keeper.renewal(ms(bench.nowMs));
        if (sent !== undefined && this.requests.length < 6) this.requests.push(sent);
        return;
      }
      case "serveRenewal": {
        const sent = take(this.requests, one.index, one.keep);
        if (sent !== undefined) this.answers.push({ sent, answer: service.renew(sent) });
        return;
      }
      case "deliverAnswer": {
        const found = take(this.answers, one.index, one.keep);
        if (found !== undefined) this.#count(bench.step({ kind: "renewed", ...found }));
        return;
      }
      case "serveRelease": {
        const released = this.releases.shift();
        if (released !== undefined) service.release(released.rangeId, released.epoch);
        return;
      }
      case "tick":
        bench.step({ kind: "clock" });
        return;
      case "round":
        return this.#round();
    }
  }

  /** At this true instant. */
  check(): void {
    const { service, bench } = this;
    for (const hold of bench.keeper.holds()) {
      const { rangeId } = hold.record.descriptor;
      if (isHolding(hold, ms(bench.nowMs))) {
        this.servedCount++;
        expect(service.isGrantedToUs(rangeId, hold.epoch)).toBe(true);
      }
      // In the worst of the futures that the clocks' bounds allow, too.
      const ownMs = (hold.deadlineMs ?? 0) - bench.nowMs;
      const isClosed = hold.handOver?.isDrained === true;
      if (hold.deadlineMs === undefined || ownMs <= 0 || isClosed) continue;
      expect(service.isGrantedToUs(rangeId, hold.epoch)).toBe(true);
      expect(ownMs / RATE_MIN).toBeLessThanOrEqual(service.remainingMs(rangeId) / RATE_MAX);
    }
  }

  /** Everything goes well for once, without any time passing. */
  #round(): void {
    for (const kind of ["deliverFrame", "deliverFrame", "accept", "sendRenewal"] as const) {
      this.run({ kind });
    }
    const newest = { index: this.requests.length - 1, keep: false };
    if (this.requests.length === 0) return;
    this.run({ kind: "serveRenewal", ...newest });
    this.run({ kind: "deliverAnswer", index: this.answers.length - 1, keep: false });
  }

  /** Closes what was asked for, and only then tells the service; also what it told it before. */
  #handOver(): void {
    const asked = this.bench.keeper.holds().flatMap(({ epoch, handOver, record }) => {
      const { rangeId } = record.descriptor;
      return handOver === undefined ? [] : [{ rangeId, epoch, revision: handOver.revision }];
    });
    this.bench.step({ kind: "drained", ranges: asked });
    this.handOvers.push(...asked);
  }

  #hearOfHandOver({ asked, refused, revision: at }: (typeof this.outcomes)[number]): void {
    const { bench } = this;
    if (refused === undefined) {
      bench.step({ kind: "handedOver", ranges: [asked], revision: revision(at) });
      this.handedOverCount++;
    } else if (refused === "NO_SUCCESSOR") {
      const events = bench.step({ kind: "handOverRefused", ranges: [asked] });
      if (events.some(({ kind }) => kind === "held")) this.keptCount++;
    } else {
      bench.step({ kind: "refused", range: asked, revision: revision(at) });
    }
  }

  #giveUp(at: number): void {
    const holds = this.bench.keeper.holds();
    const hold = holds[at % Math.max(1, holds.length)];
    if (hold === undefined) return;
    const { rangeId } = hold.record.descriptor;
    this.bench.step({ kind: "released", rangeIds: [rangeId] });
    this.releases.push({ rangeId, epoch: hold.epoch });
  }

  #count(events: ReturnType<Bench["step"]>): void {
    for (const event of events) {
      if (event.kind === "extended") this.extendedCount += event.rangeIds.length;
      if (event.kind === "held" && event.again) this.lapsedCount++;
    }
  }
}

/** One of them; kept, it will come again, as a network's copy would. */
function take<T>(items: T[], at: number, keep: boolean): T | undefined {
  const position = items.length === 0 ? 0 : at % items.length;
  return keep ? items[position] : items.splice(position, 1)[0];
}

/** Runs worlds from the same beginning, and checks after every step. */
function checkWorlds(
  ops: fc.Arbitrary<Op>,
  begin: readonly Op[],
  numRuns: number,
): Record<"served" | "extended" | "lapsed" | "handedOver" | "kept", number> {
  const seen = { served: 0, extended: 0, lapsed: 0, handedOver: 0, kept: 0 };
  fc.assert(
    fc.property(fc.array(ops, { minLength: 30, maxLength: 120 }), (run) => {
      const world = new World();
      for (const one of [...begin, ...run]) {
        world.run(one);
        world.check();
      }
      seen.served += world.servedCount;
      seen.extended += world.extendedCount;
      seen.lapsed += world.lapsedCount;
      seen.handedOver += world.handedOverCount;
      seen.kept += world.keptCount;
    }),
    { numRuns, seed: 20_261, endOnFailure: false },
  );
  return seen;
}

// The counts say that the runs have been where it matters.

test("the owner always gives up first, and believes in no extension that was not made (laws 8, 10)", () => {
  const seen = checkWorlds(op, [], 1_500);
  expect(seen.served).toBeGreaterThan(1_000);
  expect(seen.extended).toBeGreaterThan(1_000);
  expect(seen.lapsed).toBeGreaterThan(20);
});

test("nobody is served here whom the service has given to another by a hand-over (law 12)", () => {
  const seen = checkWorlds(handOverOp, [{ kind: "grantUs", index: 0 }, { kind: "round" }], 800);
  expect(seen.served).toBeGreaterThan(1_000);
  expect(seen.handedOver).toBeGreaterThan(150);
  expect(seen.kept).toBeGreaterThan(15);
});
