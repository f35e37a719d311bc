/**
 * The guard of an owner: may this request be served now, and was the range held all along until its
 * result leaves (laws 15 and 16). Answers are refusals by the contract's table.
 *
 * Order of the checks: key known here; epoch older; epoch newer; lease; memory. Nothing is learnt
 * from a request.
 */

import type { Epoch } from "../base/brands.ts";
import { type Bytes, concatBytes } from "../base/bytes.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Span } from "../base/span.ts";
import { localRefusal } from "../client/errors.ts";
import type { Clock } from "../client/ports.ts";
import type { Descriptor, Refusal } from "../wire/api.ts";
import type { EpochMemory } from "./epochs.ts";
import { type Hold, holdKindAt, isHolding } from "./hold.ts";
import type { LeaseKeeper } from "./lease.ts";
import type { WorkInHand } from "./work.ts";

/** How long a client should wait for an owner that is about to serve. */
const BEHIND_RETRY_MS = 50;

/** A data request, as far as the guard looks at it. */
export interface GuardRequest {
  readonly keyspace: string;
  readonly key: Bytes;
  /** That of the mapping by which the client found this node. */
  readonly epoch: Epoch;
}

/** One admitted request. */
export interface Admission {
  readonly descriptor: Descriptor;
  readonly epoch: Epoch;
  /**
   * To be asked before the result leaves the process. Refused with UNCERTAIN when the range was not
   * held without a break since the admission: the request may have been carried out, and its result
   * must not be given out as a success.
   */
  assertStillHeld(): Result<undefined, Refusal>;
  /**
   * To be called once, when nothing of the request goes on here: its result has left, or was given
   * up. A range that is handed over waits for it, for a limited time. A second call does nothing.
   */
  finish(): void;
}

/** One group, as far as the guard looks at it. */
export interface GuardedGroup {
  readonly keeper: LeaseKeeper;
  readonly work: WorkInHand;
}

/** What the guard looks at. */
export interface GuardWorld {
  readonly clock: Clock;
  readonly epochs: EpochMemory;
  readonly groups: readonly GuardedGroup[];
  /** False once the seat has stopped: nothing is served any more. */
  isOpen(): boolean;
}

/**
 * Admits a request or refuses it: STALE_EPOCH (older than the range's), TRANSIENT (this node is
 * behind, not ready yet, or handing the range over), LOST_AUTHORITY (the lease ended), NOT_OWNER
 * (another node's, its descriptor attached when known).
 */
export function admit(world: GuardWorld, request: GuardRequest): Result<Admission, Refusal> {
  for (const group of world.groups) {
    const hold = group.keeper.find(request.keyspace, request.key);
    if (hold !== undefined) return admitUnderHold(world, group, hold, request);
  }
  return failed(refuseUnheld(world, request));
}

function admitUnderHold(
  world: GuardWorld,
  { keeper, work }: GuardedGroup,
  hold: Hold,
  request: GuardRequest,
): Result<Admission, Refusal> {
  const { descriptor } = hold.record;
  const { rangeId } = descriptor;
  if (request.epoch < hold.epoch) {
    const message = `epoch ${request.epoch} is older than ${hold.epoch}; refresh range ${rangeId}`;
    const metadata = metadataOf(hold, request);
    return failed(localRefusal("STALE_EPOCH", message, { metadata, descriptors: [descriptor] }));
  }
  if (request.epoch > hold.epoch) {
    const message = `this node knows range ${rangeId} up to epoch ${hold.epoch} only; try it again`;
    return failed(behind(message, metadataOf(hold, request)));
  }
  const kind = world.isOpen() ? holdKindAt(hold, world.clock.nowMs()) : "ended";
  if (kind === "granted") {
    const message = `range ${rangeId} is being taken over; try it again`;
    return failed(behind(message, metadataOf(hold, request)));
  }
  if (kind === "expired" || kind === "ended") {
    const message = `this node's lease of range ${rangeId} has ended; back off, ask the directory`;
    const metadata = metadataOf(hold, request);
    return failed(localRefusal("LOST_AUTHORITY", message, { metadata }));
  }
  if (kind === "draining" || kind === "closed") {
    const to = hold.handOver?.successorId ?? "another node";
    const message = `range ${rangeId} is being handed over to ${to}; try it again`;
    return failed(behind(message, metadataOf(hold, request)));
  }
  const { number } = hold;
  const assertStillHeld = (): Result<undefined, Refusal> => {
    const present = keeper.hold(rangeId);
    const isSame = present?.number === number && present.epoch === hold.epoch;
    if (isSame && world.isOpen() && isHolding(present, world.clock.nowMs())) return ok(undefined);
    const message =
      `range ${rangeId} was not held to the end of the request, which may have been ` +
      `carried out; repeat it with the same operation id`;
    const metadata = metadataOf(hold, request);
    return failed(localRefusal("UNCERTAIN", message, { metadata }));
  };
  return ok({ descriptor, epoch: hold.epoch, assertStillHeld, finish: work.begin(number) });
}

function metadataOf(hold: Hold, request: GuardRequest): Readonly<Record<string, string>> {
  const { rangeId } = hold.record.descriptor;
  return { rangeId, epoch: String(request.epoch), currentEpoch: String(hold.epoch) };
}

/** No hold of ours contains the key. */
function refuseUnheld(world: GuardWorld, request: GuardRequest): Refusal {
  const { keyspace, key, epoch } = request;
  const remembered = world.epochs.highWater(keyspace, keySpan(key));
  let departed: Descriptor | undefined;
  for (const { keeper } of world.groups) {
    const { descriptor } = keeper.findDeparted(keyspace, key) ?? {};
    if (descriptor !== undefined && descriptor.epoch > (departed?.epoch ?? 0))
      departed = descriptor;
  }
  const currentEpoch = Math.max(remembered, departed?.epoch ?? 0);
  const metadata = { keyspace, epoch: String(epoch), currentEpoch: String(currentEpoch) };
  const descriptors = departed === undefined ? [] : [departed];
  if (epoch < currentEpoch) {
    const message = `epoch ${epoch} of the key is older than ${currentEpoch}; refresh its range`;
    return localRefusal("STALE_EPOCH", message, { metadata, descriptors });
  }
  if (departed?.owner !== undefined && epoch <= departed.epoch) {
    const message = `${departed.owner.nodeId} owns the key's range now; ask there`;
    return localRefusal("NOT_OWNER", message, { metadata, descriptors });
  }
  if (remembered > 0 && epoch === remembered) {
    const message = "this node no longer holds the key's range; back off, ask the directory";
    return localRefusal("LOST_AUTHORITY", message, { metadata });
  }
  if (remembered > 0) return behind("this node is behind the key's epoch; try it again", metadata);
  return localRefusal("NOT_OWNER", "this node has never owned the key; ask the directory", {
    metadata,
  });
}

function behind(message: string, metadata: Readonly<Record<string, string>>): Refusal {
  return localRefusal("TRANSIENT", message, { metadata, retryAfterMs: BEHIND_RETRY_MS });
}

/** The span of one key: the next key is the same with a zero byte more. */
function keySpan(key: Bytes): Span {
  return { startKey: key, endKey: concatBytes(key, Uint8Array.of(0)) };
}
