/** Random commands for a shard of two keyspaces and three nodes, in all their kinds. */

import type { Epoch, Incarnation, Revision } from "../../../src/base/brands.ts";
import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { Prng } from "../../../src/base/prng.ts";
import type { ShardCommand } from "../../../src/machine/shard/commands.ts";
import { NOT_ASKED, type ShardHarness } from "./harness.ts";
import { randomPair } from "./random-pairs.ts";

export const NODES = ["a", "b", "c"] as const;
const KEYS = ["b", "d", "f", "h", "j", "m", "p", "t", "x"] as const;

/** A command that is plausible in the shard's present state, or nearly so. */
export function randomCommand(prng: Prng, shard: ShardHarness): ShardCommand {
  const { state } = shard.machine;
  const nodeId = prng.pick(NODES);
  const session = state.sessions.get(nodeId);
  const newest = state.incarnations.get(nodeId)?.incarnation ?? 1;
  const incarnation = (session?.incarnation ?? newest) as Incarnation;
  const ids = [...state.rangesById.keys()];
  const keyspaceId = prng.nextInteger(1, 2);
  const roll = prng.nextInteger(0, 99);
  if (state.keyspaces.size < 2 || roll < 1) return createKeyspace(prng, state.keyspaces.size + 1);
  if (roll < 4) {
    return { kind: "defineRanges", keyspaceId, splitKeys: someKeys(prng).map(utf8ToBytes) };
  }
  const isEarly = shard.revision < 20 && shard.revision % 2 === 0;
  if (roll < 8 || isEarly) return importCommand(prng, shard, keyspaceId);
  if (roll < 20) return openCommand(prng, nodeId, incarnation);
  if (roll < 50) return grantCommand(prng, shard, ids, nodeId);
  const holder = { nodeId, incarnation };
  const ranges = ids
    .filter(() => prng.chance(0.3))
    .map((rangeId) => {
      const { epoch, handOverRevision } = shard.range(rangeId);
      const asked = prng.chance(0.6) ? handOverRevision : prng.pick([NOT_ASKED, NOT_ASKED, 7]);
      return { rangeId, epoch: maybeOld(prng, epoch), handOverRevision: asked as Revision };
    });
  if (roll < 56) return { kind: "accept", ...holder, ranges };
  if (roll < 64) return { kind: "release", ...holder, ranges };
  if (roll < 69) return withdrawCommand(prng, shard, ids);
  if (roll < 92) return renewCommand(prng, shard);
  return { kind: "expire" };
}

/** Again, as a newer process, or as one that is proven to have followed. */
function openCommand(prng: Prng, nodeId: string, present: Incarnation): ShardCommand {
  const change = prng.chance(0.3) ? prng.nextInteger(-1, 2) : 0;
  const incarnation = Math.max(1, present + change) as Incarnation;
  const back = prng.chance(0.5) ? prng.nextInteger(0, 2) : 0;
  const provenSince = Math.max(1, incarnation - back) as Incarnation;
  const addresses = [`${nodeId}:${incarnation}`];
  return { kind: "openSession", nodeId, incarnation, provenSince, addresses };
}

function createKeyspace(prng: Prng, keyspaceId: number): ShardCommand {
  const leaseDurationMs = prng.pick([1_500, 3_000, 10_000]);
  return {
    kind: "createKeyspace",
    terms: {
      keyspaceId: Math.min(keyspaceId, 2),
      name: `k${Math.min(keyspaceId, 2)}`,
      leaseDurationMs,
      renewIntervalMs: 500,
      leaseMode: "exclusive",
      dataKind: "local",
    },
  };
}

function importCommand(prng: Prng, shard: ShardHarness, keyspaceId: number): ShardCommand {
  const importId = prng.pick(["i1", "i2", "i3"]);
  const keys = ["", ...someKeys(prng)];
  if (prng.chance(0.5)) {
    const rows = keys.map((key) => ({
      startKey: utf8ToBytes(key),
      intendedNodeId: prng.chance(0.5) ? prng.pick(NODES) : undefined,
    }));
    return { kind: "stageImport", importId, keyspaceId, part: 0, rows };
  }
  if (prng.chance(0.2)) return { kind: "abortImport", importId, keyspaceId };
  const staged = shard.machine.state.imports.get(importId)?.draft.rowCount ?? 1;
  const rowCount = prng.chance(0.9) ? staged : prng.nextInteger(1, 6);
  return { kind: "commitImport", importId, keyspaceId, rowCount };
}

function grantCommand(
  prng: Prng,
  shard: ShardHarness,
  ids: readonly string[],
  nodeId: string,
): ShardCommand {
  const items = ids
    .filter(() => prng.chance(0.4))
    .map((rangeId) => {
      const { epoch, descriptorRevision } = shard.range(rangeId);
      return {
        rangeId,
        nodeId: prng.chance(0.8) ? nodeId : prng.pick(NODES),
        expectedEpoch: maybeOld(prng, epoch),
        expectedDescriptorRevision: descriptorRevision,
        incarnation: undefined,
      };
    });
  return { kind: "grant", items, onlyUnowned: prng.chance(0.2), handOver: prng.chance(0.4) };
}

function withdrawCommand(prng: Prng, shard: ShardHarness, ids: readonly string[]): ShardCommand {
  const waiting = ids.filter((rangeId) => shard.range(rangeId).successor !== undefined);
  const rangeId = prng.pick(waiting.length > 0 ? waiting : ids);
  const { epoch, descriptorRevision } = shard.range(rangeId);
  return {
    kind: "withdrawSuccessor",
    rangeId,
    expectedEpoch: epoch,
    expectedDescriptorRevision: descriptorRevision,
  };
}

function renewCommand(prng: Prng, shard: ShardHarness): ShardCommand {
  const renewals = NODES.filter(() => prng.chance(0.6)).map((nodeId) => ({
    nodeId,
    incarnation: (shard.machine.state.sessions.get(nodeId)?.incarnation ?? 1) as Incarnation,
    asOf: Math.max(0, shard.revision - prng.nextInteger(-1, prng.chance(0.2) ? 60 : 6)) as Revision,
    except: prng.chance(0.3)
      ? [
          {
            keyspaceId: prng.nextInteger(1, 2),
            startKey: utf8ToBytes(prng.pick(KEYS)),
            endKey: undefined,
          },
        ]
      : [],
    ...randomPair(prng, shard.machine.state.incarnations.get(nodeId)?.lastRenewal),
  }));
  return { kind: "renew", renewals };
}

function someKeys(prng: Prng): string[] {
  return KEYS.filter(() => prng.chance(0.4));
}

function maybeOld(prng: Prng, epoch: Epoch): Epoch {
  return prng.chance(0.05) ? (Math.max(0, epoch - 1) as Epoch) : epoch;
}
