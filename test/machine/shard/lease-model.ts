/**
 * Leases a second time, as naively as laws 8 and 11 read: every range remembers all that was ever
 * given to it, a renewal walks over all of them, and so does whoever asks for a deadline. Written
 * from the laws alone and compared with the machine, whose renewals and changes of leaders take
 * constant time. Knows nothing of imports and request ids.
 */

import { bytesEqual, compareBytes } from "../../../src/base/bytes.ts";
import { type Span, spansOverlap } from "../../../src/base/span.ts";
import type {
  Grant,
  GrantItem,
  OpenSession,
  Renewal,
  RenewalPair,
  ShardCommand,
} from "../../../src/machine/shard/commands.ts";

/** How long a session that holds nothing is taken for alive. */
const BASE_MS = 10_000;
const BASE = 0;
/** What a new leader gives. */
const GRACE_MS = 4_000;

/** What a renewal or a grant gave: its moment plus D, and plus 2D, by the D in force then. */
interface Given {
  readonly deadlineMs: number;
  readonly capMs: number;
}

interface ModelOwner {
  readonly nodeId: string;
  readonly incarnation: number;
}

export interface ModelRange extends Span {
  readonly rangeId: string;
  readonly keyspaceId: number;
  epoch: number;
  descriptorRevision: number;
  owner: ModelOwner | undefined;
  successor: ModelOwner | undefined;
  /** When the owner was asked to hand over to it; 0: it was not. */
  handOverRevision: number;
  /** Its last lease ran out while this node's next process was waiting for that. */
  intendedNodeId: string | undefined;
  /** Since the grant, without what is over. */
  given: Given[];
}

export interface ModelChange {
  readonly revision: number;
  readonly kind: string;
  readonly rangeId: string;
  readonly epoch: number;
}

export interface ModelSession extends ModelOwner {
  /** The latest deadline and the latest cap that each standing was given, by keyspace. */
  readonly standings: Map<number, Given>;
  /** All there ever were. */
  readonly changes: ModelChange[];
  /** A newer process of its node waits until then: it keeps what it has and gets nothing more. */
  supersededUntilMs: number;
  /** Renewals with an older view than this are refused. */
  keptAfter: number;
}

export type ModelRenewal =
  | ("noSession" | "asOfAhead" | "viewTooOld" | "extended")
  | ("lateCopy" | "sessionClosed");

/** What is known of an incarnation's renewals, also after its session. */
interface ModelLine {
  last: RenewalPair | undefined;
  isClosed: boolean;
}

export class LeaseModel {
  revision = 0;
  timeMs = 0;
  #graceUntilMs = 0;
  readonly durations = new Map<number, number>();
  readonly ranges = new Map<string, ModelRange>();
  readonly sessions = new Map<string, ModelSession>();
  readonly #newest = new Map<string, number>();
  readonly #lines = new Map<string, ModelLine>();
  #vacated: ModelRange[] = [];

  /** Answers what became of each renewal; empty for other commands. */
  apply(command: ShardCommand, timeMs: number): ModelRenewal[] {
    this.revision++;
    this.timeMs = timeMs;
    this.#endDue();
    if (command.kind === "renew") return command.renewals.map((renewal) => this.#renew(renewal));
    this.#run(command);
    return [];
  }

  /** A new leader opens its term: what is due ends, then everything else gets grace. */
  applyNoop(timeMs: number): void {
    this.revision++;
    this.timeMs = timeMs;
    this.#endDue();
    this.#graceUntilMs = timeMs + GRACE_MS;
  }

  /** Law 11, word by word: the best of all that was given. */
  endOf(given: readonly Given[]): number {
    const ends = given.map(({ deadlineMs, capMs }) =>
      Math.min(Math.max(deadlineMs, this.#graceUntilMs), capMs),
    );
    return Math.max(...ends);
  }

  /** What decides how long it lasts: renewals alone, the grace, or the cap on graces. */
  endedBy(given: readonly Given[]): "deadline" | "grace" | "cap" {
    const endMs = this.endOf(given);
    if (given.some(({ deadlineMs }) => deadlineMs === endMs)) return "deadline";
    return endMs === this.#graceUntilMs ? "grace" : "cap";
  }

  /** What a session holds, by range id. */
  held(session: ModelOwner): ModelRange[] {
    return [...this.ranges.values()].filter(({ owner }) => isSame(owner, session));
  }

  /** Law 9: standings, then single ranges, then successors that are still alive. */
  #endDue(): void {
    for (const session of this.sessions.values()) {
      for (const [keyspaceId, given] of session.standings) {
        if (this.endOf([given]) > this.timeMs) continue;
        for (const range of this.held(session)) {
          if (range.keyspaceId === keyspaceId) this.#end(range, "expired");
        }
        session.standings.delete(keyspaceId);
      }
      if (session.standings.size === 0) this.sessions.delete(session.nodeId);
    }
    for (const range of this.ranges.values()) {
      // Each end is final, also where something else that was given lasts longer.
      range.given = range.given.filter((one) => this.endOf([one]) > this.timeMs);
      if (range.owner !== undefined && range.given.length === 0) this.#end(range, "expired");
    }
    this.#grantToSuccessors();
  }

  #run(command: Exclude<ShardCommand, { kind: "renew" }>): void {
    switch (command.kind) {
      case "createKeyspace": {
        const { keyspaceId, leaseDurationMs } = command.terms;
        if (this.durations.has(keyspaceId)) return;
        this.durations.set(keyspaceId, leaseDurationMs);
        this.#replaceMap(keyspaceId, []);
        return;
      }
      case "defineRanges": {
        const ofKeyspace = [...this.ranges.values()].filter(
          ({ keyspaceId }) => keyspaceId === command.keyspaceId,
        );
        if (ofKeyspace.some(({ epoch }) => epoch > 0)) return;
        this.#replaceMap(command.keyspaceId, command.splitKeys);
        return;
      }
      case "openSession":
        this.#open(command);
        return;
      case "release":
        for (const { rangeId, epoch, handOverRevision } of command.ranges) {
          const range = this.ranges.get(rangeId);
          if (range?.epoch !== epoch || !isSame(range.owner, command)) continue;
          if (this.line(command).isClosed) continue;
          if (handOverRevision !== 0 && !this.#mayHandOver(range, handOverRevision)) continue;
          this.#end(range, "released");
        }
        this.#grantToSuccessors();
        return;
      case "grant":
        this.#grant(command);
        return;
      case "withdrawSuccessor": {
        const range = this.ranges.get(command.rangeId);
        if (range === undefined || !this.#isExpected(range, command)) return;
        if (range.successor === undefined) return;
        this.#lift(range);
        return;
      }
      case "accept":
      case "expire":
      case "stageImport":
      case "commitImport":
      case "abortImport":
        return;
    }
  }

  #replaceMap(keyspaceId: number, splitKeys: readonly Uint8Array[]): void {
    for (const range of this.ranges.values()) {
      if (range.keyspaceId === keyspaceId) this.ranges.delete(range.rangeId);
    }
    const starts = [new Uint8Array(0), ...splitKeys];
    for (const [ordinal, startKey] of starts.entries()) {
      const rangeId = `1.${this.revision}.${ordinal}`;
      this.ranges.set(rangeId, {
        rangeId,
        keyspaceId,
        startKey,
        endKey: starts[ordinal + 1],
        epoch: 0,
        descriptorRevision: this.revision,
        owner: undefined,
        successor: undefined,
        handOverRevision: 0,
        intendedNodeId: undefined,
        given: [],
      });
    }
  }

  /** Law 13: wait for an older one that may live, end one that is proven dead. */
  #open({ nodeId, incarnation, provenSince }: OpenSession): void {
    const newest = this.#newest.get(nodeId) ?? 0;
    if (incarnation < newest) return;
    const present = this.sessions.get(nodeId);
    if (present?.incarnation === incarnation) return;
    if (this.line({ nodeId, incarnation }).isClosed) return;
    const mayLive =
      present !== undefined && (present.incarnation < provenSince || this.line(present).isClosed);
    // One epoch, one owner: what was granted by this entry is not granted on by it (law 3).
    const isGranted =
      present !== undefined && this.held(present).some(({ epoch }) => epoch === this.revision);
    if (present !== undefined && (mayLive || isGranted)) {
      present.supersededUntilMs = this.endOf([...present.standings.values()]) + BASE_MS;
      return;
    }
    const inherited = present === undefined ? [] : this.held(present);
    this.sessions.delete(nodeId);
    for (const range of inherited) this.#end(range, "restarted");
    this.#grantToSuccessors();
    this.#newest.set(nodeId, incarnation);
    const standings = new Map([[BASE, this.#now(BASE)]]);
    // What it held in an earlier session of its own is no view of this one.
    const keptAfter = incarnation === newest ? this.revision : this.revision - 1;
    const supersededUntilMs = 0;
    const session = { nodeId, incarnation, standings, changes: [], supersededUntilMs, keptAfter };
    this.sessions.set(nodeId, session);
    for (const range of this.ranges.values()) {
      const isInherited = inherited.includes(range) && range.owner === undefined;
      if (isInherited || range.intendedNodeId === nodeId) this.#give(range, session);
    }
  }

  /** The largest incarnation of a node that has opened a session; 1 before any. */
  newest(nodeId: string): number {
    return this.#newest.get(nodeId) ?? 1;
  }

  line({ nodeId, incarnation }: ModelOwner): ModelLine {
    const name = `${nodeId}/${incarnation}`;
    const line = this.#lines.get(name) ?? { last: undefined, isClosed: false };
    this.#lines.set(name, line);
    return line;
  }

  /** Law 8, word by word, after law 13's pairs. */
  #renew({ nodeId, incarnation, asOf, except, pair, known }: Renewal): ModelRenewal {
    const session = this.sessions.get(nodeId);
    if (session?.incarnation !== incarnation) return "noSession";
    const line = this.line(session);
    if (line.isClosed) return "sessionClosed";
    if (line.last !== undefined) {
      const { sequence, nonce } = line.last;
      const isLast = (one: RenewalPair): boolean =>
        one.sequence === sequence && one.nonce === nonce;
      if (pair.sequence < sequence) return "lateCopy";
      line.isClosed =
        pair.sequence === sequence ? pair.nonce !== nonce : !known.some((one) => isLast(one));
      if (line.isClosed) return "sessionClosed";
    }
    line.last = pair;
    if (asOf > this.revision) return "asOfAhead";
    if (asOf < session.keptAfter) return "viewTooOld";
    for (const range of this.held(session)) {
      const isExcepted = except.some(
        (span) => span.keyspaceId === range.keyspaceId && spansOverlap(span, range),
      );
      if (range.epoch > asOf || isExcepted || range.successor !== undefined) continue;
      range.given.push(this.#now(range.keyspaceId));
    }
    for (const keyspaceId of session.standings.keys()) this.#raise(session, keyspaceId);
    this.#raise(session, BASE);
    session.keptAfter = asOf;
    return "extended";
  }

  /** Only to the successor for whom it was asked, and who is alive; a dead one is dropped. */
  #mayHandOver(range: ModelRange, asked: number): boolean {
    const { successor, handOverRevision } = range;
    if (asked !== handOverRevision || successor === undefined) return false;
    if (this.#isAlive(successor)) return true;
    this.#lift(range);
    return false;
  }

  #lift(range: ModelRange): void {
    range.successor = undefined;
    range.handOverRevision = 0;
    this.#note(range, "successorLifted");
  }

  #isAlive(successor: ModelOwner): boolean {
    const session = this.sessions.get(successor.nodeId);
    return session?.incarnation === successor.incarnation && !this.line(session).isClosed;
  }

  #grant({ items, onlyUnowned, handOver }: Grant): void {
    const plans: { range: ModelRange; session: ModelSession }[] = [];
    for (const [at, item] of items.entries()) {
      const range = this.ranges.get(item.rangeId);
      const session = this.sessions.get(item.nodeId);
      if (items.findIndex(({ rangeId }) => rangeId === item.rangeId) < at) return;
      if (range === undefined || session === undefined || !this.#isExpected(range, item)) return;
      if (item.incarnation !== undefined && item.incarnation !== session.incarnation) return;
      const { owner, successor } = range;
      const isOther = owner !== undefined && !isSame(owner, session);
      const isSuperseded = this.timeMs < session.supersededUntilMs || this.line(session).isClosed;
      if (isSuperseded && (isOther || owner === undefined)) return;
      if (isOther && onlyUnowned) return;
      if (isOther && successor !== undefined && !isSame(successor, session)) return;
      plans.push({ range, session });
    }
    for (const { range, session } of plans) {
      if (range.owner === undefined) this.#give(range, session);
      else if (!isSame(range.owner, session)) {
        const isAsked = handOver && range.handOverRevision === 0;
        if (range.successor !== undefined && !isAsked) continue;
        range.successor = session;
        range.handOverRevision = handOver ? this.revision : 0;
        this.#note(range, "successorSet");
      }
    }
  }

  #isExpected(
    range: ModelRange,
    expected: Pick<GrantItem, "expectedEpoch" | "expectedDescriptorRevision">,
  ): boolean {
    return (
      expected.expectedEpoch === range.epoch &&
      expected.expectedDescriptorRevision === range.descriptorRevision
    );
  }

  #give(range: ModelRange, session: ModelSession): void {
    const { nodeId, incarnation } = session;
    range.owner = { nodeId, incarnation };
    range.successor = undefined;
    range.handOverRevision = 0;
    range.intendedNodeId = undefined;
    range.epoch = this.revision;
    range.descriptorRevision = this.revision;
    range.given = [this.#now(range.keyspaceId)];
    this.#raise(session, range.keyspaceId);
    this.#note(range, "granted");
  }

  #end(range: ModelRange, why: "released" | "expired" | "restarted"): void {
    this.#note(range, why);
    const session = range.owner && this.sessions.get(range.owner.nodeId);
    const isAwaited = session !== undefined && this.timeMs < session.supersededUntilMs;
    if (why === "expired" && isAwaited) range.intendedNodeId = session.nodeId;
    range.owner = undefined;
    range.descriptorRevision = this.revision;
    this.#vacated.push(range);
  }

  #grantToSuccessors(): void {
    for (const range of this.#vacated.splice(0)) {
      const { successor } = range;
      if (successor === undefined) continue;
      const session = this.sessions.get(successor.nodeId);
      range.successor = undefined;
      range.handOverRevision = 0;
      if (session !== undefined && this.#isAlive(successor)) this.#give(range, session);
    }
  }

  /** A change to what the present owner holds. */
  #note({ owner, rangeId, epoch }: ModelRange, kind: string): void {
    const session = owner && this.sessions.get(owner.nodeId);
    session?.changes.push({ revision: this.revision, kind, rangeId, epoch });
  }

  #now(keyspaceId: number): Given {
    const durationMs = keyspaceId === BASE ? BASE_MS : (this.durations.get(keyspaceId) ?? 0);
    return { deadlineMs: this.timeMs + durationMs, capMs: this.timeMs + 2 * durationMs };
  }

  #raise(session: ModelSession, keyspaceId: number): void {
    const now = this.#now(keyspaceId);
    const { deadlineMs, capMs } = session.standings.get(keyspaceId) ?? now;
    session.standings.set(keyspaceId, {
      deadlineMs: Math.max(deadlineMs, now.deadlineMs),
      capMs: Math.max(capMs, now.capMs),
    });
  }
}

export function isSame(a: ModelOwner | undefined, b: ModelOwner | undefined): boolean {
  return a?.nodeId === b?.nodeId && a?.incarnation === b?.incarnation;
}

export function isSameSpan(a: Span, b: Span): boolean {
  const sameEnd =
    a.endKey === undefined || b.endKey === undefined
      ? a.endKey === b.endKey
      : compareBytes(a.endKey, b.endKey) === 0;
  return bytesEqual(a.startKey, b.startKey) && sameEnd;
}
