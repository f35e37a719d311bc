/**
 * The lease keeper: what this incarnation holds in one group, and until when. Pure: frames, answers
 * and clock readings go in, events come out; no IO, no clock of its own, and no promise.
 *
 * Two things are kept apart. The *view* is what the watch has shown, exact as of `asOf`; a renewal
 * sends it. The *holds* are what is served: the view, less what some later answer has seen to end.
 *
 * What moves what (laws 6, 8, 10): a hold comes from the watch or from a grant that we asked for;
 * a deadline only from the answer to a renewal or to such a grant; an end from anyone.
 */

import type { Epoch, GroupId, MonotonicMs, Revision } from "../base/brands.ts";
import type {
  GrantAnswer,
  KeyspaceSpan,
  LeaseDuration,
  Owner,
  RangeEpoch,
  RangeRecord,
  RenewAnswer,
  WatchFrame,
} from "../wire/api.ts";
import {
  type AskedHandOver,
  type AskedRange,
  deadlineOf,
  type Hold,
  holdKindAt,
  withAsked,
} from "./hold.ts";
import { HoldTable } from "./hold-table.ts";
import type { EndCause, LeaseEvent, LeaseInput } from "./lease-steps.ts";
import { EXCEPTIONS_MAX, renewalEffect, type SentRenewal } from "./renewal.ts";
import { WatchView } from "./watch-view.ts";

export class LeaseKeeper {
  readonly owner: Owner;
  readonly group: GroupId;
  readonly #view: WatchView;
  readonly #holds = new HoldTable();
  /** Epochs that ended by a later answer than the view: never held again. Dropped with the view. */
  readonly #endedEpochs = new Map<string, { epoch: Epoch; seenAt: Revision }>();
  /** Given up here, and perhaps not yet at the service: excepted from renewals. */
  readonly #released = new Map<string, RangeRecord>();
  readonly #durations = new Map<string, LeaseDuration>();
  #nextNumber = 1;

  constructor(owner: Owner, group: GroupId) {
    this.owner = owner;
    this.group = group;
    this.#view = new WatchView(owner);
  }

  /** The view is complete up to here; undefined: nothing is known yet. */
  get asOf(): Revision | undefined {
    return this.#view.asOf;
  }

  /** In no particular order; ended holds are gone. */
  holds(): readonly Hold[] {
    return this.#holds.all();
  }

  hold(rangeId: string): Hold | undefined {
    return this.#holds.get(rangeId);
  }

  /** The hold of the range that contains the key, whatever its state. */
  find(keyspace: string, key: Uint8Array): Hold | undefined {
    return this.#holds.find(keyspace, key);
  }

  /** Where a range went that was here, as far as the watch has shown it. */
  findDeparted(keyspace: string, key: Uint8Array): RangeRecord | undefined {
    return this.#view.findDeparted(keyspace, key);
  }

  /** Lease terms last stated for a keyspace. */
  duration(keyspace: string): LeaseDuration | undefined {
    return this.#durations.get(keyspace);
  }

  /** The renewal to send now; undefined while nothing is known of what we hold. */
  renewal(firstSentMs: MonotonicMs): SentRenewal | undefined {
    const { asOf } = this;
    if (asOf === undefined) return undefined;
    const except: KeyspaceSpan[] = [...this.#released.values()]
      .slice(0, EXCEPTIONS_MAX)
      .map(({ descriptor }) => ({ keyspace: descriptor.keyspace, span: descriptor.span }));
    return { firstSentMs, asOf, except, view: this.#view.copy() };
  }

  /** When time alone will next change a hold; undefined: never. */
  nextChangeMs(): MonotonicMs | undefined {
    let next: MonotonicMs | undefined;
    for (const { kind, suspectAtMs, deadlineMs } of this.#holds.all()) {
      const isLate = kind === "suspect" || kind === "draining";
      const at = kind === "held" ? suspectAtMs : isLate ? deadlineMs : undefined;
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  step(input: LeaseInput): readonly LeaseEvent[] {
    const { nowMs } = input;
    const events: LeaseEvent[] = [];
    // Lapses are noticed before anything is extended: a deadline that has passed stays passed.
    this.#passTime(nowMs, events);
    switch (input.kind) {
      case "clock":
        break;
      case "frame":
        this.#onFrame(input.frame, events);
        break;
      case "sessionOpened":
        this.#noteDurations(input.durations);
        break;
      case "sessionEnded":
        for (const hold of this.#holds.all()) this.#end(hold, "sessionEnded", hold.epoch, events);
        break;
      case "accepted":
        for (const range of input.ranges) this.#onAccepted(range, events);
        break;
      case "refused": {
        const hold = this.#holds.get(input.range.rangeId);
        if (hold?.epoch === input.range.epoch) this.#end(hold, "refused", input.revision, events);
        break;
      }
      case "renewed":
        this.#onRenewed(input.sent, input.answer, events);
        break;
      case "grantAnswered":
        this.#onGrantAnswered(input.firstSentMs, input.answer, events);
        break;
      case "released":
        this.#onReleased(input.rangeIds, events);
        break;
      case "drained":
        for (const hold of this.#asked(input.ranges)) {
          this.#holds.put({ ...hold, handOver: { ...hold.handOver, isDrained: true } });
        }
        break;
      case "handedOver":
        for (const hold of this.#asked(input.ranges)) {
          this.#end(hold, "handedOver", input.revision, events);
        }
        break;
      case "handOverRefused":
        for (const hold of this.#asked(input.ranges)) {
          const handOversOver = hold.handOver.revision;
          this.#holds.put({ ...hold, handOver: undefined, handOversOver });
        }
        break;
    }
    this.#passTime(nowMs, events);
    return events;
  }

  /** Brings every hold's kind to this moment. */
  #passTime(nowMs: MonotonicMs, events: LeaseEvent[]): void {
    for (const hold of this.#holds.all()) {
      const kind = holdKindAt(hold, nowMs);
      if (kind === hold.kind) continue;
      const wasServed = hold.kind === "held" || hold.kind === "suspect";
      const isServed = kind === "held" || kind === "suspect";
      // It was not held in between, and what was admitted before must not count as held all along.
      const wasLost = hold.kind === "expired" || hold.kind === "closed";
      const isBroken = wasLost && (isServed || kind === "draining");
      const number = isBroken ? this.#nextNumber++ : hold.number;
      const changed: Hold = { ...hold, kind, number };
      this.#holds.put(changed);
      const again = hold.kind !== "granted";
      if (isServed && !wasServed) events.push({ kind: "held", hold: changed, again });
      if (kind === "expired" || kind === "suspect" || kind === "draining") {
        events.push({ kind, hold: changed });
      }
    }
  }

  #onFrame(frame: WatchFrame, events: LeaseEvent[]): void {
    for (const { rangeId, record, asOf: at, cause } of this.#view.apply(frame)) {
      const hold = this.#holds.get(rangeId);
      if (record === undefined) {
        // A grant that we asked for can be newer than this frame.
        const asOf = this.#view.asOf;
        if (hold !== undefined && asOf !== undefined && hold.epoch <= asOf) {
          const isOurDoing = cause === "released" && hold.handOver?.isDrained === true;
          this.#end(hold, isOurDoing ? "handedOver" : cause, undefined, events);
        }
        continue;
      }
      this.#onOurs(record, at, events);
    }
    if (frame.kind === "snapshot") this.#endWhatIsNotShown(events);
    this.#forgetEnded();
  }

  /** A snapshot also ends what no frame has ever shown: a grant that we asked for, if older. */
  #endWhatIsNotShown(events: LeaseEvent[]): void {
    const { asOf } = this.#view;
    for (const hold of this.#holds.all()) {
      const isShown = this.#view.get(hold.record.descriptor.rangeId) !== undefined;
      if (!isShown && asOf !== undefined && hold.epoch <= asOf) {
        this.#end(hold, "expired", undefined, events);
      }
    }
  }

  /** The record says that the range is ours, as of this revision. */
  #onOurs(record: RangeRecord, asOf: Revision, events: LeaseEvent[]): void {
    const { rangeId, epoch } = record.descriptor;
    const ended = this.#endedEpochs.get(rangeId);
    if (ended !== undefined && epoch <= ended.epoch) return;
    const hold = this.#holds.get(rangeId);
    if (hold !== undefined && hold.epoch > epoch) return;
    if (hold?.epoch === epoch) {
      this.#noteAsked({ ...hold, record }, record, asOf, events);
      return;
    }
    if (hold !== undefined) this.#end(hold, "expired", undefined, events);
    const granted: Hold = {
      record,
      epoch,
      number: this.#nextNumber++,
      kind: "granted",
      accepted: false,
      deadlineMs: undefined,
      suspectAtMs: undefined,
      handOver: undefined,
      handOversOver: 0 as Revision,
    };
    this.#holds.put(granted);
    events.push({ kind: "granted", hold: granted });
    this.#noteAsked(granted, record, asOf, events);
  }

  #noteAsked(hold: Hold, record: RangeRecord, asOf: Revision, events: LeaseEvent[]): void {
    const changed = withAsked(hold, record, asOf);
    this.#holds.put(changed);
    const isNews = changed.handOver?.revision !== hold.handOver?.revision;
    if (isNews && changed.handOver !== undefined) {
      events.push({ kind: "handOverAsked", hold: changed });
    }
  }

  /** Those of the ranges whose hand-over is still the one that is meant. */
  #asked(ranges: readonly AskedRange[]): (Hold & { readonly handOver: AskedHandOver })[] {
    return ranges.flatMap(({ rangeId, epoch, revision }) => {
      const hold = this.#holds.get(rangeId);
      const handOver = hold?.epoch === epoch ? hold.handOver : undefined;
      return hold !== undefined && handOver?.revision === revision ? [{ ...hold, handOver }] : [];
    });
  }

  #onAccepted({ rangeId, epoch }: RangeEpoch, events: LeaseEvent[]): void {
    const hold = this.#holds.get(rangeId);
    if (hold === undefined || hold.epoch !== epoch || hold.accepted) return;
    const accepted: Hold = { ...hold, accepted: true };
    this.#holds.put(accepted);
    events.push({ kind: "accepted", hold: accepted });
  }

  #onRenewed(sent: SentRenewal, answer: RenewAnswer, events: LeaseEvent[]): void {
    const effect = renewalEffect(sent, answer);
    if (effect === undefined) return;
    this.#noteDurations(answer.durations);
    for (const { rangeId, epoch, why } of effect.ended) {
      const hold = this.#holds.get(rangeId);
      if (hold?.epoch === epoch) this.#end(hold, why, answer.header.revision, events);
    }
    for (const { range, revision } of effect.successors) {
      const { rangeId, epoch } = range.descriptor;
      const hold = this.#holds.get(rangeId);
      if (hold?.epoch === epoch) this.#noteAsked(hold, range, revision, events);
    }
    const rangeIds: string[] = [];
    for (const { rangeId, epoch, durationMs, renewIntervalMs } of effect.extended) {
      const hold = this.#holds.get(rangeId);
      if (hold?.epoch !== epoch) continue;
      this.#extend(hold, { firstSentMs: sent.firstSentMs, durationMs, renewIntervalMs });
      rangeIds.push(rangeId);
    }
    events.push({ kind: "extended", rangeIds });
  }

  #onGrantAnswered(firstSentMs: MonotonicMs, answer: GrantAnswer, events: LeaseEvent[]): void {
    for (const { kind, range, leaseDurationMs } of answer.outcomes) {
      const { epoch, keyspace, owner, rangeId } = range.descriptor;
      if (kind !== "granted" || owner === undefined || !this.#isOurs(owner)) continue;
      const isNewerThanView = this.#view.asOf === undefined || epoch > this.#view.asOf;
      if (isNewerThanView) this.#onOurs(range, answer.header.revision, events);
      const hold = this.#holds.get(rangeId);
      if (hold?.epoch !== epoch) continue;
      const renewIntervalMs = this.#durations.get(keyspace)?.renewIntervalMs ?? leaseDurationMs / 3;
      this.#extend(hold, { firstSentMs, durationMs: leaseDurationMs, renewIntervalMs });
    }
  }

  #onReleased(rangeIds: readonly string[], events: LeaseEvent[]): void {
    for (const rangeId of rangeIds) {
      const hold = this.#holds.get(rangeId);
      if (hold === undefined) continue;
      this.#released.set(rangeId, hold.record);
      this.#end(hold, "released", hold.epoch, events);
    }
  }

  /** Deadlines only rise: an older request's answer that comes late changes nothing. */
  #extend(
    hold: Hold,
    by: { firstSentMs: MonotonicMs; durationMs: number; renewIntervalMs: number },
  ): void {
    const deadlineMs = deadlineOf(by.firstSentMs, by.durationMs);
    if (hold.deadlineMs !== undefined && hold.deadlineMs >= deadlineMs) return;
    const overdueMs = by.firstSentMs + 2 * by.renewIntervalMs;
    const suspectAtMs = Math.min(overdueMs, deadlineMs) as MonotonicMs;
    this.#holds.put({ ...hold, deadlineMs, suspectAtMs });
  }

  /** `seenAt`: where the end was seen, if the view does not show it yet. */
  #end(hold: Hold, why: EndCause, seenAt: number | undefined, events: LeaseEvent[]): void {
    const { rangeId } = hold.record.descriptor;
    this.#holds.delete(rangeId);
    if (seenAt !== undefined) {
      this.#endedEpochs.set(rangeId, { epoch: hold.epoch, seenAt: seenAt as Revision });
    }
    events.push({ kind: "ended", hold: { ...hold, kind: "ended" }, why });
  }

  /** What the view no longer shows, and never will again, needs no memory. */
  #forgetEnded(): void {
    const { asOf } = this.#view;
    if (asOf === undefined) return;
    for (const [rangeId, { epoch, seenAt }] of this.#endedEpochs) {
      const shown = this.#view.get(rangeId)?.descriptor.epoch;
      if (asOf >= seenAt && (shown === undefined || shown > epoch)) {
        this.#endedEpochs.delete(rangeId);
      }
    }
    for (const [rangeId, { descriptor }] of this.#released) {
      const shown = this.#view.get(rangeId)?.descriptor.epoch;
      if (asOf >= descriptor.epoch && shown !== descriptor.epoch) this.#released.delete(rangeId);
    }
  }

  #noteDurations(durations: readonly LeaseDuration[]): void {
    for (const duration of durations) this.#durations.set(duration.keyspace, duration);
  }

  #isOurs(owner: Owner): boolean {
    return owner.nodeId === this.owner.nodeId && owner.incarnation === this.owner.incarnation;
  }
}
