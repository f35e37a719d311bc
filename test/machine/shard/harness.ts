/**
 * Drives a shard machine entry by entry, with every invariant of SPEC.md checked after each.
 */

import type {
  Epoch,
  GroupId,
  Incarnation,
  LogIndex,
  LogTimeMs,
  Revision,
  Term,
} from "../../../src/base/brands.ts";
import { bytesToUtf8, utf8ToBytes } from "../../../src/base/bytes.ts";
import type { EntryMeta } from "../../../src/machine/group.ts";
import type {
  RenewalAnswer,
  ShardAnswer,
  ShardResult,
} from "../../../src/machine/shard/answers.ts";
import type {
  ExceptedSpan,
  GrantItem,
  ShardCommand,
  ShardRequest,
} from "../../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../../src/machine/shard/events.ts";
import {
  checkShard,
  checkShardDelta,
  type EntryFacts,
  pictureOfShard,
} from "../../../src/machine/shard/invariants.ts";
import { deadlineMs } from "../../../src/machine/shard/leases.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { KeyspaceTerms, RangeRecord } from "../../../src/machine/shard/types.ts";

import { SENT_AGAIN } from "../../sent-again.ts";

/** Of a plain release. */
export const NOT_ASKED = 0 as Revision;

export const GROUP = 1 as GroupId;

export interface Step {
  readonly revision: Revision;
  readonly answer: ShardAnswer;
  readonly result: ShardResult;
  readonly events: readonly ShardEvent[];
}

export class ShardHarness {
  readonly machine = new ShardMachine(GROUP);
  timeMs = 0;
  #index = 0;

  get revision(): Revision {
    return this.machine.revision;
  }

  /** Applies a command at the present log time. */
  apply(command: ShardCommand, requestId?: ShardRequest["requestId"]): Step {
    const before = pictureOfShard(this.machine.state);
    const applied = this.machine.apply(this.#nextMeta(), { requestId, command });
    checkShard(this.machine.state);
    const { answer, events, revision } = applied;
    if (answer === undefined) throw new Error("a command has an answer");
    checkShardDelta(before, this.machine.state, events, factsOf(command));
    return { revision, answer, result: answer.result, events };
  }

  /** Applies a leader's noop. */
  noop(): readonly ShardEvent[] {
    const before = pictureOfShard(this.machine.state);
    const meta = this.#nextMeta();
    const { answer, events } = this.machine.apply(meta, undefined);
    checkShard(this.machine.state);
    if (answer !== undefined) throw new Error("a noop has no answer");
    const facts = { ...factsOf({ kind: "expire" }), isNoop: true };
    checkShardDelta(before, this.machine.state, events, facts);
    return events;
  }

  /** Lets log time pass, then ends what is due, as a leader would. */
  advance(ms: number): Step {
    this.timeMs += ms;
    return this.apply({ kind: "expire" });
  }

  keyspace(name: string, terms: Partial<KeyspaceTerms> = {}): number {
    const keyspaceId = this.machine.state.keyspaces.size + 1;
    this.apply({
      kind: "createKeyspace",
      terms: {
        keyspaceId,
        name,
        leaseDurationMs: 3_000,
        renewIntervalMs: 1_000,
        leaseMode: "exclusive",
        dataKind: "local",
        ...terms,
      },
    });
    return keyspaceId;
  }

  split(keyspaceId: number, ...keys: string[]): Step {
    return this.apply({ kind: "defineRanges", keyspaceId, splitKeys: keys.map(utf8ToBytes) });
  }

  /** Unproven, unless it is said since when registrations were proven. */
  open(nodeId: string, incarnation = 1, provenSince = incarnation): Step {
    return this.apply({
      kind: "openSession",
      nodeId,
      incarnation: incarnation as Incarnation,
      provenSince: provenSince as Incarnation,
      addresses: [`${nodeId}:${incarnation}`],
    });
  }

  /** Grants with what the machine has at present as the expectation. */
  grant(rangeId: string, nodeId: string, onlyUnowned = false, handOver = false): Step {
    const items = [grantItem(this.range(rangeId), nodeId)];
    return this.apply({ kind: "grant", items, onlyUnowned, handOver });
  }

  renew(
    nodeId: string,
    asOf: number = this.revision,
    incarnation = 1,
    except: readonly ExceptedSpan[] = [],
  ): Step {
    const renewal = {
      nodeId,
      incarnation: incarnation as Incarnation,
      asOf: asOf as Revision,
      except,
      ...SENT_AGAIN,
    };
    return this.apply({ kind: "renew", renewals: [renewal] });
  }

  /** What a single renewal was answered. */
  renewed(...args: Parameters<ShardHarness["renew"]>): RenewalAnswer {
    return renewalOf(this.renew(...args));
  }

  withdraw(rangeId: string): Step {
    const { epoch, descriptorRevision } = this.range(rangeId);
    return this.apply({
      kind: "withdrawSuccessor",
      rangeId,
      expectedEpoch: epoch,
      expectedDescriptorRevision: descriptorRevision,
    });
  }

  /** A part of a map, as start keys with the nodes that are to own them. */
  stage(
    importId: string,
    keyspaceId: number,
    part: number,
    rows: readonly (readonly [key: string, nodeId?: string])[],
  ): Step {
    return this.apply({
      kind: "stageImport",
      importId,
      keyspaceId,
      part,
      rows: rows.map(([key, nodeId]) => ({ startKey: utf8ToBytes(key), intendedNodeId: nodeId })),
    });
  }

  commit(importId: string, keyspaceId: number, rowCount: number): Step {
    return this.apply({ kind: "commitImport", importId, keyspaceId, rowCount });
  }

  /** Records a successor and asks the owner to hand over. */
  handOver(rangeId: string, nodeId: string): Step {
    return this.grant(rangeId, nodeId, false, true);
  }

  release(rangeId: string, nodeId: string, incarnation = 1, handOverRevision = 0): Step {
    const { epoch } = this.range(rangeId);
    const ranges = [{ rangeId, epoch, handOverRevision: handOverRevision as Revision }];
    return this.apply({
      kind: "release",
      nodeId,
      incarnation: incarnation as Incarnation,
      ranges,
    });
  }

  accept(rangeId: string, nodeId: string, epoch: Epoch, incarnation = 1): Step {
    const ranges = [{ rangeId, epoch }];
    return this.apply({ kind: "accept", nodeId, incarnation: incarnation as Incarnation, ranges });
  }

  range(rangeId: string): RangeRecord {
    const slot = this.machine.state.rangesById.get(rangeId);
    if (slot === undefined) throw new Error(`no range ${rangeId}`);
    return slot.record;
  }

  /** Ranges of a keyspace in key order. */
  ranges(keyspaceId: number): RangeRecord[] {
    const keyspace = this.machine.state.keyspaces.get(keyspaceId);
    return keyspace === undefined ? [] : [...keyspace.ranges.values()].map((slot) => slot.record);
  }

  deadline(rangeId: string): number {
    const { state } = this.machine;
    const slot = state.rangesById.get(rangeId);
    if (slot === undefined) throw new Error(`no range ${rangeId}`);
    return deadlineMs(state, slot);
  }

  #nextMeta(): EntryMeta {
    const index = ++this.#index as LogIndex;
    return { index, term: 1 as Term, timeMs: this.timeMs as LogTimeMs };
  }
}

/** To this node, with what the range has at present as the expectation. */
export function grantItem(range: RangeRecord, nodeId: string): GrantItem {
  const { rangeId, epoch, descriptorRevision } = range;
  return {
    rangeId,
    nodeId,
    expectedEpoch: epoch,
    expectedDescriptorRevision: descriptorRevision,
    incarnation: undefined,
  };
}

/** As a changed duration will be found by the entries after it. */
export function setDuration(
  machine: ShardMachine,
  keyspaceId: number,
  leaseDurationMs: number,
): void {
  const { keyspaces } = machine.state;
  const keyspace = keyspaces.get(keyspaceId);
  if (keyspace === undefined) throw new Error(`no keyspace ${keyspaceId}`);
  keyspaces.set(keyspaceId, { ...keyspace, terms: { ...keyspace.terms, leaseDurationMs } });
}

/** A keyspace of one range, granted to node "a" at log time 0. */
export function shardWithOwner(durationMs = 3_000): { shard: ShardHarness; rangeId: string } {
  const shard = new ShardHarness();
  const keyspaceId = shard.keyspace("orders", { leaseDurationMs: durationMs });
  const rangeId = onlyRange(shard, keyspaceId);
  shard.open("a");
  shard.grant(rangeId, "a");
  return { shard, rangeId };
}

export function onlyRange(shard: ShardHarness, keyspaceId: number): string {
  const [range] = shard.ranges(keyspaceId);
  if (range === undefined) throw new Error("a keyspace has a range");
  return range.rangeId;
}

export function renewalOf({ result }: Step): RenewalAnswer {
  const answer = result.kind === "renewed" ? result.answers[0] : undefined;
  if (answer === undefined) throw new Error(`no renewal was answered: ${result.kind}`);
  return answer;
}

/** The changes that an extending answer tells, in short. */
export function changesOf(answer: RenewalAnswer): string[] {
  if (answer.kind !== "extended") throw new Error(`not extended: ${answer.kind}`);
  return answer.changes.map(({ kind, range }) => `${kind} ${bytesToUtf8(range.startKey) ?? "?"}`);
}

/** The reason of a refusal, or the kind of result that it is instead. */
export function reasonOf({ result }: Step): string {
  return result.kind === "refused" ? result.reason : result.kind;
}

export function excepted(keyspaceId: number, from: string, to?: string): ExceptedSpan {
  const endKey = to === undefined ? undefined : utf8ToBytes(to);
  return { keyspaceId, startKey: utf8ToBytes(from), endKey };
}

/** What the delta checks must know of a command. */
export function factsOf(command: ShardCommand): EntryFacts {
  const renewed = command.kind === "renew" ? command.renewals.map(({ nodeId }) => nodeId) : [];
  const released = command.kind === "release" ? command.ranges.map(({ rangeId }) => rangeId) : [];
  const provenSince = new Map<string, number>();
  if (command.kind === "openSession" && command.provenSince < command.incarnation) {
    provenSince.set(command.nodeId, command.provenSince);
  }
  return {
    isNoop: false,
    renewedNodeIds: new Set(renewed),
    releasedRangeIds: new Set(released),
    provenSince,
  };
}
