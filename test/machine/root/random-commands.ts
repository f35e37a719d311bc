/** Random commands for the root, in all their kinds, of which many are refused. */

import type { GroupId } from "../../../src/base/brands.ts";
import type { Prng } from "../../../src/base/prng.ts";
import type { RootCommand } from "../../../src/machine/root/commands.ts";
import { CLUSTER, SETTINGS } from "./harness.ts";

export function randomCommand(prng: Prng): RootCommand {
  const roll = prng.nextInteger(0, 9);
  if (roll < 2) return { kind: "initCluster", cluster: CLUSTER };
  if (roll < 5) {
    const settings = { ...SETTINGS, name: prng.pick(["a", "b", "c", "d", "e", "f", "g"]) };
    return { kind: "createKeyspace", settings, group: prng.nextInteger(1, 3) as GroupId };
  }
  if (roll < 7) return { kind: "markKeyspaceReady", keyspaceId: prng.nextInteger(1, 6) };
  const nodeId = prng.pick(["n1", "n2", "n3"]);
  return {
    kind: "registerNode",
    nodeId,
    dataUuid: prng.chance(0.8) ? nodeId : "other",
    start: prng.chance(0.9)
      ? { bootId: "b", lockFile: "1:2", startCount: prng.nextInteger(1, 4) }
      : undefined,
    addresses: [`${nodeId}:${prng.nextInteger(1, 3)}`],
    zone: prng.pick(["", "z"]),
    labels: [],
    capacity: prng.nextInteger(0, 3),
  };
}
