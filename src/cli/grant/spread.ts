// How `grant` divides ranges among nodes: contiguous blocks in key order, one for each node in the
// order given, whose sizes differ by one at most. Neighbours stay together, so that scans and
// later merges meet few owners.
import { assert } from "../../base/assert.ts";

export interface Assignment<T> {
  readonly item: T;
  readonly nodeId: string;
}

export function spreadEvenly<T>(items: readonly T[], nodeIds: readonly string[]): Assignment<T>[] {
  assert(nodeIds.length > 0, "ranges are spread over at least one node");
  return items.map((item, at) => {
    const nodeId = nodeIds[Math.floor((at * nodeIds.length) / items.length)];
    assert(nodeId !== undefined, "an item's block is one of the nodes'");
    return { item, nodeId };
  });
}
