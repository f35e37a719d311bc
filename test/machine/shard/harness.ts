/**
 * Drives a shard machine entry by entry, with every invariant of SPEC.md checked after each.
 */

import type { Epoch, GroupId, Incarnation, LogIndex, LogTimeMs, Revision, Term } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ShardAnswer, ShardResult } from "../../../src/machine/shard/answers.ts";
import type { ShardCommand, ShardRequest } from "../../../src/machine/shard/commands.ts";
import type { ShardEvent } from "../../../src/machine/shard/events.ts";
import {
  checkShard,
  checkShardDelta,
  pictureOfShard,
} from "../../../src/machine/shard/invariants.ts";
import { deadlineMs, sessionOf } from "../../../src/machine/shard/leases.ts";
import { ShardMachine } from "../../../src/machine/shard/machine.ts";
import type { KeyspaceTerms, RangeRecord } from "../../../src/machine/shard/types.ts";

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
    const meta = {
      index: ++this.#index as LogIndex,
      term: 1 as Term,
      timeMs: this.timeMs as LogTimeMs,
    };
    const applied = this.machine.apply(meta, { requestId, command });
    checkShard(this.machine.state);
    const { answer, events, revision } = applied;
    if (answer === undefined) throw new Error("a command has an answer");
    checkShardDelta(before, this.machine.state, events, factsOf(command));
    return { revision, answer, result: answer.result, events };
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

  open(nodeId: string, incarnation = 1): Step {
    return this.apply({ kind: "openSession", nodeId, incarnation: incarnation as Incarnation });
  }

  /** Grants with what the machine has at present as the expectation. */
  grant(rangeId: string, nodeId: string, onlyUnowned = false): Step {
    const { epoch, descriptorRevision } = this.range(rangeId);
    const item = {
      rangeId,
      nodeId,
      expectedEpoch: epoch,
      expectedDescriptorRevision: descriptorRevision,
      incarnation: undefined,
    };
    return this.apply({ kind: "grant", items: [item], onlyUnowned });
  }

  renew(nodeId: string, asOf: number = this.revision, incarnation = 1): Step {
    const renewal = {
      nodeId,
      incarnation: incarnation as Incarnation,
      asOf: asOf as Revision,
      except: [],
    };
    return this.apply({ kind: "renew", renewals: [renewal] });
  }

  release(rangeId: string, nodeId: string, incarnation = 1): Step {
    const { epoch } = this.range(rangeId);
    const ranges = [{ rangeId, epoch }];
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
    return deadlineMs(sessionOf(state, slot), slot);
  }
}

function factsOf(command: ShardCommand): {
  renewedNodeIds: Set<string>;
  releasedRangeIds: Set<string>;
} {
  const renewed = command.kind === "renew" ? command.renewals.map(({ nodeId }) => nodeId) : [];
  const released = command.kind === "release" ? command.ranges.map(({ rangeId }) => rangeId) : [];
  return { renewedNodeIds: new Set(renewed), releasedRangeIds: new Set(released) };
}
