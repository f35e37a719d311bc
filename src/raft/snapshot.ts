/**
 * Snapshots: how a replica's log is shortened, and how one that lacks what was compacted away is
 * brought up (Raft §7, Ongaro §5).
 *
 * The core knows positions only; files are the host's work.
 *   1. The leader's log no longer holds what a follower lacks: it offers its snapshot's position,
 *      again with each heartbeat that is answered, and sends no appends until that is settled.
 *   2. The follower answers at once if its log goes that far; else its host fetches the file.
 *   3. The fetched state is taken if it is still above the commit index. One step of the disk makes
 *      it the beginning of an empty log; when that is durable the host swaps its machine. The next
 *      offer is then answered.
 */

import { assert } from "../base/assert.ts";
import type { LogIndex, ReplicaId } from "../base/brands.ts";
import { acknowledge, reject } from "./append.ts";
import { advanceFollowerCommit } from "./commit.ts";
import type { SnapshotReceivedInput, SnapshotTakenInput } from "./input.ts";
import type { SnapshotOffer } from "./messages.ts";
import type { Progress } from "./progress.ts";
import { followLeader } from "./role.ts";
import type { RaftState } from "./state.ts";
import type { LogPosition } from "./types.ts";

/** Tells a follower where our snapshot stands; repeated until it is settled. */
export function offerSnapshot(state: RaftState, progress: Progress): void {
  const position = progress.offeredSnapshot ?? state.snapshot;
  progress.offered(position);
  state.outbox.sendNow(progress.peer, { kind: "snapshotOffer", term: state.term, position });
}

export function onSnapshotOffer(state: RaftState, from: ReplicaId, offer: SnapshotOffer): void {
  const { position } = offer;
  assert(position.term <= offer.term, "a leader's snapshot is not of later terms (R2)");
  if (offer.term < state.term) {
    reject(state, from, { prevIndex: position.index, prevTerm: position.term });
    return;
  }
  followLeader(state, from);
  if (holdsPosition(state, position)) {
    // A snapshot stands for committed entries only, so our log is committed that far as well.
    advanceFollowerCommit(state, position.index);
    acknowledge(state, from, position.index);
  } else if (state.installing === undefined) {
    if (position.index > state.offeredIndex) state.offeredIndex = position.index;
    state.outbox.fetch({ from, position });
  }
}

/** The host has a checkpoint on disk: the log may begin later. */
export function onSnapshotTaken(state: RaftState, { position }: SnapshotTakenInput): void {
  // A snapshot that was installed meanwhile is further on.
  if (position.index <= state.snapshot.index) return;
  assert(position.index <= state.appliedIndex, "a checkpoint holds what was applied (R21)");
  assert(state.log.termAt(position.index) === position.term, "a checkpoint is of our log (R21)");
  state.snapshot = position;
  const baseIndex = nextBaseIndex(state);
  const isBaseNews = baseIndex > state.log.base.index;
  if (isBaseNews) state.log.compact(baseIndex);
  state.outbox.snapshot(position, isBaseNews ? state.log.base : undefined);
}

/** The host has fetched, checked and decoded a snapshot that a leader offered. */
export function onSnapshotReceived(state: RaftState, { position }: SnapshotReceivedInput): void {
  if (state.installing !== undefined || holdsPosition(state, position)) return;
  // Offered before a restart: by a leader, perhaps, of a term that we have forgotten. Others may
  // lead in our term, and know nothing of what was committed in that one.
  if (position.index > state.offeredIndex) return;
  assert(state.role.kind !== "leader", "a leader's log holds all that is committed (R16)");
  const { log, outbox } = state;
  const fromIndex = (state.commitIndex + 1) as LogIndex;
  if (log.lastIndex >= fromIndex) {
    log.truncate(fromIndex);
    state.durability.truncated(fromIndex);
    outbox.truncate(fromIndex);
  }
  log.reset(position);
  state.snapshot = position;
  state.commitIndex = position.index;
  state.installing = position;
  outbox.snapshot(position, position);
  outbox.transition({ kind: "snapshotAccepted", position });
}

/** Snapshot files that somebody may still ask for. */
export function snapshotsInUse(state: RaftState): readonly LogPosition[] {
  const positions = [...state.durability.snapshots];
  if (state.role.kind !== "leader") return positions;
  for (const { offeredSnapshot } of state.role.progress) {
    if (offeredSnapshot !== undefined) positions.push(offeredSnapshot);
  }
  return positions;
}

/** Our log, or what it began with, goes at least as far, and is the same there. */
function holdsPosition(state: RaftState, position: LogPosition): boolean {
  if (position.index <= state.commitIndex) return true;
  return state.log.termAt(position.index) === position.term;
}

/**
 * Keeps a tail behind the snapshot for followers that are a little late, and what those need that
 * are brought up with a snapshot: they would have to begin anew. Not for ever: beyond
 * logHeldBytesMax the log is cut all the same.
 */
function nextBaseIndex(state: RaftState): LogIndex {
  const { config, log, role, snapshot } = state;
  const wanted = log.startOfTail(snapshot.index, config.logTrailingBytes);
  if (role.kind !== "leader" || log.bytes > config.logHeldBytesMax) return wanted;
  const { electionTimeoutTicksMin } = config;
  let base = wanted;
  for (const { neededIndex, contactElapsedTicks } of role.progress) {
    // Nothing is kept for a follower that is gone, or for which it is too late.
    if (neededIndex === undefined || contactElapsedTicks >= electionTimeoutTicksMin) continue;
    if (neededIndex >= log.base.index) base = Math.min(base, neededIndex) as LogIndex;
  }
  return base;
}
