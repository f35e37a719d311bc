/**
 * Machine records in the API's form, written down a second time for the checkers: names instead of
 * numbers, and nothing else.
 */

import type { GroupId } from "../../src/base/brands.ts";
import type { RangeRecord as MachineRange } from "../../src/machine/shard/types.ts";
import type { RangeRecord } from "../../src/wire/api.ts";

export function wireRecordOf(range: MachineRange, keyspace: string, group: GroupId): RangeRecord {
  return {
    descriptor: {
      rangeId: range.rangeId,
      keyspace,
      span: { startKey: range.startKey, endKey: range.endKey },
      epoch: range.epoch,
      owner: range.owner,
      replicas: range.replicas,
      descriptorRevision: range.descriptorRevision,
      group,
    },
    successor: range.successor,
    intendedNodeId: range.intendedNodeId,
    acceptedEpoch: range.acceptedEpoch,
    handOverRevision: range.handOverRevision,
  };
}
