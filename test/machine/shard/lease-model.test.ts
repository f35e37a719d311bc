/**
 * The machine's constant-time leases against the naive model, and the owner's side of law 8: what
 * an answered renewal says, applied to the view that was sent, is what the service holds.
 */

import { expect, test } from "vitest";
import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import { bytesToUtf8, utf8ToBytes } from "../../../src/base/bytes.ts";
import { compareStrings } from "../../../src/base/ordered-map.ts";
import { Prng } from "../../../src/base/prng.ts";
import { spansOverlap } from "../../../src/base/span.ts";
import type { RenewalAnswer } from "../../../src/machine/shard/answers.ts";
import type { Owner } from "../../../src/machine/shard/types.ts";
import type { ExceptedSpan, Renewal, ShardCommand } from "../../../src/machine/shard/commands.ts";
import { deadlineMs } from "../../../src/machine/shard/leases.ts";
import { sessionRemainingMs } from "../../../src/machine/shard/sessions.ts";
import { setDuration, ShardHarness } from "./harness.ts";
import { randomPair } from "./random-pairs.ts";
import { LeaseModel, type ModelRange, type ModelSession } from "./lease-model.ts";

const NODES = ["a", "b", "c"] as const;
const KEYS = ["c", "f", "k", "p", "t"] as const;
const SEEDS = Number(process.env["LEASE_SEEDS"] ?? 160);
const FIRST_SEED = Number(process.env["LEASE_FIRST_SEED"] ?? 1);
const ENTRIES = 200;

test("owners, epochs and deadlines agree with the naive model after every entry (8, 11)", () => {
  const seen = new Map<string, number>();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    try {
      new Comparison(seed, seen).run();
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new Error(`seed ${seed}: ${what}`, { cause: error });
    }
  }
  const wanted = ["expired", "released", "successorSet", "successorLifted", "granted"];
  wanted.push("restarted", "regranted", "lateCopy", "sessionClosed");
  wanted.push("handedOver", "handOver noSuccessor");
  wanted.push("extended", "viewTooOld", "asOfAhead", "noSession", "excepted");
  for (const what of [...wanted, "noop", "endedAtNoop", "grace", "cap", "durationChanged"]) {
    expect(seen.get(what) ?? 0, `the runs must reach ${what}`).toBeGreaterThan(20);
  }
}, 120_000);

/** What an owner knows of a range that it holds. */
interface Known {
  readonly epoch: number;
  readonly hasSuccessor: boolean;
}

type View = Map<string, Known>;

class Comparison {
  readonly #prng: Prng;
  readonly #seen: Map<string, number>;
  /**
   * Nothing is cut loose from its session, and durations change: a range that is cut loose keeps
   * the latest deadline and the latest cap, which is more than law 11 asks if they are of two D.
   */
  readonly #isPlain: boolean;
  readonly #shard = new ShardHarness();
  readonly #model = new LeaseModel();
  /** What each session held after each revision, by node and incarnation. */
  readonly #views = new Map<string, Map<number, View>>();

  constructor(seed: number, seen: Map<string, number>) {
    this.#prng = Prng.fromSeed(seed);
    this.#seen = seen;
    this.#isPlain = this.#prng.chance(0.25);
  }

  run(): void {
    for (const command of this.#setUp()) this.#step(command);
    for (let entry = 0; entry < ENTRIES; entry++) {
      this.#passTime();
      if (this.#isPlain && this.#prng.chance(0.04)) this.#changeDuration();
      if (this.#prng.chance(0.06)) this.#changeLeader();
      else this.#step(this.#randomCommand());
    }
  }

  #setUp(): ShardCommand[] {
    const durations = this.#prng.pick([
      [1_500, 4_000],
      [3_000, 12_000],
      [500, 25_000],
    ]);
    const commands: ShardCommand[] = [];
    for (const [at, leaseDurationMs] of durations.entries()) {
      const keyspaceId = at + 1;
      const terms = { keyspaceId, name: `k${keyspaceId}`, leaseDurationMs, renewIntervalMs: 100 };
      const kinds = { leaseMode: "exclusive", dataKind: "local" } as const;
      commands.push({ kind: "createKeyspace", terms: { ...terms, ...kinds } });
      const splitKeys = KEYS.filter(() => this.#prng.chance(0.6)).map(utf8ToBytes);
      commands.push({ kind: "defineRanges", keyspaceId, splitKeys });
    }
    return commands;
  }

  /** Often exactly to a deadline, or a millisecond beside it. */
  #passTime(): void {
    const prng = this.#prng;
    if (prng.chance(0.4)) return;
    const { timeMs } = this.#shard;
    const deadlines = [...this.#model.ranges.values()]
      .filter(({ owner }) => owner !== undefined)
      .map(({ given }) => this.#model.endOf(given));
    for (const { standings } of this.#model.sessions.values()) {
      for (const given of standings.values()) deadlines.push(this.#model.endOf([given]));
    }
    const ahead = deadlines.filter((deadline) => deadline > timeMs);
    if (prng.chance(0.25) && ahead.length > 0) {
      const target = prng.chance(0.8) ? Math.min(...ahead) : prng.pick(ahead);
      this.#shard.timeMs = Math.max(timeMs, target + prng.nextInteger(-1, 1));
    } else {
      this.#shard.timeMs += prng.nextInteger(1, prng.chance(0.1) ? 3_000 : 250);
    }
  }

  #step(command: ShardCommand): void {
    const { result, events } = this.#shard.apply(command);
    for (const { cause } of events) if (cause === "restarted") this.#count(cause);
    if (result.kind === "sessionOpened" && result.grantedCount > 0) this.#count("regranted");
    if (command.kind === "release" && result.kind === "rangesJudged") {
      for (const [at, { refused }] of result.outcomes.entries()) {
        if (command.ranges[at]?.handOverRevision === 0) continue;
        this.#count(refused === undefined ? "handedOver" : `handOver ${refused}`);
      }
    }
    const outcomes = this.#model.apply(command, this.#shard.timeMs);
    this.#compareState();
    this.#notePictures();
    if (command.kind !== "renew" || result.kind !== "renewed") return;
    expect(result.answers.map(({ kind }) => kind)).toEqual(outcomes);
    for (const [at, renewal] of command.renewals.entries()) {
      this.#checkAnswer(renewal, result.answers[at]);
    }
  }

  /** Now and then several in a row, as in a cluster that can't keep a leader. */
  #changeLeader(): void {
    do {
      const ended = this.#shard.noop();
      this.#model.applyNoop(this.#shard.timeMs);
      this.#compareState();
      this.#notePictures();
      this.#count(ended.length > 0 ? "endedAtNoop" : "noop");
      this.#passTime();
    } while (this.#prng.chance(0.5));
  }

  #changeDuration(): void {
    const keyspaceId = this.#prng.nextInteger(1, 2);
    const durationMs = this.#prng.pick([500, 1_500, 4_000, 12_000]);
    setDuration(this.#shard.machine, keyspaceId, durationMs);
    this.#count("durationChanged");
    this.#model.durations.set(keyspaceId, durationMs);
  }

  #compareState(): void {
    const { state } = this.#shard.machine;
    expect(state.rangesById.size).toBe(this.#model.ranges.size);
    for (const [rangeId, slot] of state.rangesById) {
      const { record } = slot;
      const range = this.#model.ranges.get(rangeId);
      const isOwned = record.owner !== undefined;
      const actual = [
        record.epoch,
        record.descriptorRevision,
        ownerText(record.owner),
        ownerText(record.successor),
        record.intendedNodeId,
        record.handOverRevision,
        isOwned ? deadlineMs(state, slot) : 0,
      ];
      const expected = [
        range?.epoch,
        range?.descriptorRevision,
        ownerText(range?.owner),
        ownerText(range?.successor),
        range?.intendedNodeId,
        range?.handOverRevision,
        isOwned ? this.#model.endOf(range?.given ?? []) : 0,
      ];
      same(actual, expected, `range ${rangeId} at ${state.revision}`);
      if (isOwned && range !== undefined) this.#count(this.#model.endedBy(range.given));
    }
    const open = [...this.#model.sessions.keys()].toSorted(compareStrings);
    same([...state.sessions.keys()], open, "sessions");
    for (const session of state.sessions.values()) {
      const standings = this.#model.sessions.get(session.nodeId)?.standings.values() ?? [];
      const lastsMs = this.#model.endOf([...standings]) - this.#shard.timeMs;
      same([sessionRemainingMs(state, session)], [lastsMs], `session ${session.nodeId}`);
    }
    // An early look is allowed, one at the same time again and again would never end.
    const dueMs = this.#shard.machine.nextDueMs();
    same([dueMs === undefined || dueMs > this.#shard.timeMs], [true], `due at ${dueMs}`);
  }

  #notePictures(): void {
    const { revision } = this.#model;
    for (const session of this.#model.sessions.values()) {
      const views = this.#viewsOf(session);
      if (!views.has(revision - 1)) views.set(revision - 1, new Map());
      const view: View = new Map();
      for (const { rangeId, epoch, successor } of this.#model.held(session)) {
        view.set(rangeId, { epoch, hasSuccessor: successor !== undefined });
      }
      views.set(revision, view);
    }
  }

  #viewsOf({ nodeId, incarnation }: ModelSession): Map<number, View> {
    const name = `${nodeId}/${incarnation}`;
    let views = this.#views.get(name);
    if (views === undefined) {
      views = new Map();
      this.#views.set(name, views);
    }
    return views;
  }

  /** The changes are all there, and lead from the view that was sent to the present one. */
  #checkAnswer(renewal: Renewal, answer: RenewalAnswer | undefined): void {
    this.#count(answer?.kind ?? "missing");
    const session = this.#model.sessions.get(renewal.nodeId);
    if (answer?.kind !== "extended" || session === undefined) return;
    const { asOf } = renewal;
    const told = answer.changes.map(({ revision, kind, range }) => ({
      revision: revision as number,
      kind,
      rangeId: range.rangeId,
      epoch: range.epoch as number,
    }));
    for (const { kind } of told) this.#count(kind);
    // Ends tell the range as it was held, everything else as it is.
    for (const { range } of answer.changes)
      same([ownerText(range.owner)], [ownerText(session)], "");
    const due = session.changes.filter(({ revision }) => revision > asOf);
    expect(sorted(told)).toEqual(sorted(due));
    const sent = this.#viewsOf(session).get(asOf);
    if (sent === undefined) throw new Error(`no view of ${renewal.nodeId} as of ${asOf}`);
    const view: View = new Map(sent);
    for (const { kind, range } of answer.changes) {
      const { rangeId, epoch, successor } = range;
      if (kind === "expired" || kind === "released") view.delete(rangeId);
      else view.set(rangeId, { epoch, hasSuccessor: successor !== undefined });
    }
    expect(view).toEqual(this.#viewsOf(session).get(this.#model.revision));
    this.#checkDeadlines(renewal, view);
  }

  /** What the rule gives the owner lasts at the service for at least the full D from here. */
  #checkDeadlines(renewal: Renewal, view: View): void {
    for (const [rangeId, { epoch, hasSuccessor }] of view) {
      const range = this.#model.ranges.get(rangeId);
      if (range === undefined) throw new Error("the view is of ranges that exist");
      if (isExcepted(renewal.except, range)) this.#count("excepted");
      else if (epoch <= renewal.asOf && !hasSuccessor) {
        const durationMs = this.#model.durations.get(range.keyspaceId) ?? Number.NaN;
        const lastsMs = this.#shard.deadline(rangeId) - this.#shard.timeMs;
        same([lastsMs >= durationMs], [true], `${rangeId} lasts for ${lastsMs} ms`);
      }
    }
  }

  #randomCommand(): ShardCommand {
    const prng = this.#prng;
    const nodeId = prng.pick(NODES);
    const session = this.#model.sessions.get(nodeId);
    const newest = this.#model.newest(nodeId);
    const incarnation = (
      prng.chance(0.9) && session !== undefined ? session.incarnation : prng.nextInteger(1, newest)
    ) as Incarnation;
    const roll = prng.nextInteger(0, 99);
    if (roll < (session === undefined ? 45 : 12)) {
      const known = prng.chance(0.1) ? incarnation : newest;
      const isOver = this.#model.line({ nodeId, incarnation: known }).isClosed;
      const next = (known + prng.pick(isOver ? [0, 1, 1] : [0, 0, 0, 1])) as Incarnation;
      const provenSince = Math.max(1, next - prng.pick([0, 0, 1, 3])) as Incarnation;
      const addresses: string[] = [];
      return { kind: "openSession", nodeId, incarnation: next, provenSince, addresses };
    }
    if (roll < 42) return this.#grant(nodeId);
    if (roll < 50) {
      const all = [...this.#model.ranges.values()];
      const asking = prng.pick([undefined, ...all.filter((range) => range.handOverRevision > 0)]);
      if (asking?.owner !== undefined && prng.chance(0.4)) {
        const { rangeId, epoch, handOverRevision, owner } = asking;
        const named = { rangeId, epoch: epoch as Epoch };
        const ranges = [{ ...named, handOverRevision: handOverRevision as Revision }];
        return { kind: "release", ...(owner as Owner), ranges };
      }
      const ranges = all
        .filter(() => prng.chance(0.3))
        .map(({ rangeId, epoch, handOverRevision }) => {
          const asked = (prng.chance(0.7) ? handOverRevision : prng.pick([0, 3])) as Revision;
          return { rangeId, epoch: epoch as Epoch, handOverRevision: asked };
        });
      return { kind: "release", nodeId, incarnation, ranges };
    }
    if (roll < 61) return this.#withdraw();
    if (roll < 95) return { kind: "renew", renewals: this.#renewals() };
    return { kind: "expire" };
  }

  #grant(nodeId: string): ShardCommand {
    const prng = this.#prng;
    const items = [...this.#model.ranges.values()]
      .filter(() => prng.chance(0.35))
      .map(({ rangeId, epoch, descriptorRevision }) => ({
        rangeId,
        nodeId: prng.chance(0.85) ? nodeId : prng.pick(NODES),
        expectedEpoch: epoch as Epoch,
        expectedDescriptorRevision: descriptorRevision as Revision,
        incarnation: undefined,
      }));
    const onlyUnowned = this.#isPlain || prng.chance(0.15);
    return { kind: "grant", items, onlyUnowned, handOver: prng.chance(0.3) };
  }

  #withdraw(): ShardCommand {
    const all = [...this.#model.ranges.values()];
    const waiting = all.filter(({ successor }) => successor !== undefined);
    const { rangeId, epoch, descriptorRevision } = this.#prng.pick(
      waiting.length > 0 ? waiting : all,
    );
    return {
      kind: "withdrawSuccessor",
      rangeId,
      expectedEpoch: epoch as Epoch,
      expectedDescriptorRevision: descriptorRevision as Revision,
    };
  }

  /** Now and then two of one session in one entry. */
  #renewals(): Renewal[] {
    const prng = this.#prng;
    const nodeIds = NODES.filter(() => prng.chance(0.6));
    if (prng.chance(0.2)) nodeIds.push(prng.pick(NODES));
    return nodeIds.map((nodeId) => {
      const back = prng.nextInteger(-2, prng.chance(0.1) ? 40 : 6);
      const session = this.#model.sessions.get(nodeId);
      const except: ExceptedSpan[] = [];
      while (!this.#isPlain && prng.chance(0.35)) except.push(this.#exceptedSpan());
      return {
        nodeId,
        incarnation: (session?.incarnation ?? 1) as Incarnation,
        asOf: Math.max(0, this.#model.revision + 1 - back) as Revision,
        except,
        ...randomPair(prng, session && this.#model.line(session).last, 0.004),
      };
    });
  }

  #exceptedSpan(): ExceptedSpan {
    const prng = this.#prng;
    const from = prng.pick(["", "a", "c", "d", "k", "l", "z"]);
    const to = prng.pick(["b", "f", "g", "p", "q", undefined]);
    const isValid = to === undefined || from < to;
    return {
      keyspaceId: prng.nextInteger(1, 2),
      startKey: utf8ToBytes(from),
      endKey: isValid && to !== undefined ? utf8ToBytes(to) : undefined,
    };
  }

  #count(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }
}

/** As expect().toEqual(), for a million comparisons. */
function same(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const isSame = actual.length === expected.length && actual.every((v, at) => v === expected[at]);
  if (!isSame) expect(actual, what).toEqual(expected);
}

function isExcepted(except: readonly ExceptedSpan[], range: ModelRange): boolean {
  return except.some((span) => span.keyspaceId === range.keyspaceId && spansOverlap(span, range));
}

function ownerText(owner: { nodeId: string; incarnation: number } | undefined): string {
  return owner === undefined ? "nobody" : `${owner.nodeId}/${owner.incarnation}`;
}

function sorted<T extends { revision: number; rangeId: string }>(changes: readonly T[]): T[] {
  return changes.toSorted((a, b) => a.revision - b.revision || (a.rangeId < b.rangeId ? -1 : 1));
}

test("the model's spans are those of the machine", () => {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders");
  shard.split(keyspaceId, "c", "f");
  const spans = shard.ranges(keyspaceId).map(({ startKey }) => bytesToUtf8(startKey));
  expect(spans).toEqual(["", "c", "f"]);
});
