/**
 * Storage nodes of a soak, each a real seat over real gRPC in this process, and what they are owed:
 * a live one keeps what it holds, a dead one loses it in time.
 */

import { freshNonce } from "../../../src/fence/level/fresh-nonce.ts";
import type { Epoch } from "../../../src/base/brands.ts";
import type { Span } from "../../../src/base/span.ts";
import type { Client } from "../../../src/client/client.ts";
import { EpochMap } from "../../../src/fence/epoch-map.ts";
import type { EpochMemory, RememberedEpoch } from "../../../src/fence/epochs.ts";
import { type Seat, takeSeat } from "../../../src/fence/seat.ts";
import { systemClock, systemTimers } from "../../../src/server/system.ts";
import { realClient } from "../support/clients.ts";

export interface SoakOwner {
  readonly nodeId: string;
  readonly client: Client;
  readonly seat: Seat;
  /** When it stopped renewing, without a word to the directory. */
  deadAtMs: number | undefined;
}

/** A new node under a name that was never used. */
export async function startOwner(endpoints: readonly string[], nodeId: string): Promise<SoakOwner> {
  const client = realClient(endpoints, nodeId);
  const seat = await takeSeat({
    client,
    nodeId,
    dataUuid: Buffer.from(nodeId.padEnd(16, ".")).toString("hex").slice(0, 32),
    addresses: ["127.0.0.1:1"],
    clock: systemClock,
    timers: systemTimers,
    epochs: volatileMemory(),
    freshNonce,
  });
  return { nodeId, client, seat, deadAtMs: undefined };
}

/** It is as if the process had been killed: nothing is released. */
export async function killOwner(owner: SoakOwner): Promise<void> {
  owner.deadAtMs = performance.now();
  await owner.seat.close({ release: false });
  owner.client.close();
}

/** For how long this owner believes that it may still serve a range; undefined: it doesn't. */
export function believesMs(
  owner: SoakOwner,
  range: { readonly rangeId: string; readonly epoch: Epoch },
): number | undefined {
  if (owner.deadAtMs !== undefined) return undefined;
  const hold = owner.seat
    .holds()
    .find(({ rangeId, epoch }) => rangeId === range.rangeId && epoch === range.epoch);
  if (hold?.kind !== "held" && hold?.kind !== "suspect") return undefined;
  return hold.remainingMs;
}

function volatileMemory(): EpochMemory {
  const map = new EpochMap();
  return {
    remember: (epochs: readonly RememberedEpoch[]) => {
      map.apply(map.changeFor(epochs));
      return Promise.resolve();
    },
    highWater: (keyspace: string, span: Span) => map.highWater(keyspace, span),
  };
}
