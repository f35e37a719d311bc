/**
 * Feeds the bytes of a snapshot to a machine that is restored from them, in short slices: at a
 * start, and beside the live machine when a snapshot was fetched.
 */

import type { Bytes } from "../base/bytes.ts";
import type { SnapshotRestore } from "../machine/group.ts";
import { Pace } from "./pace.ts";
import type { Clock, Timers } from "./ports.ts";

/** Decoding in one turn of the loop: short beside a heartbeat. */
const SLICE_MS = 4;
/** Decoded between two looks at the clock. */
const PIECE_BYTES_MAX = 32 * 1024;

export interface RestoreOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** The file is sound, and its content is of another version, or was written by a bug. */
class SnapshotUnreadable extends Error {
  override readonly name = "SnapshotUnreadable";
}

/**
 * How many bytes were accepted: a whole snapshot, unless the signal was aborted. Rejects with the
 * store's error, or with {@link SnapshotUnreadable}.
 */
export async function feedRestore(
  restore: SnapshotRestore,
  pieces: AsyncIterable<Bytes>,
  options: RestoreOptions,
): Promise<number> {
  const pace = new Pace({ ...options, sliceMs: SLICE_MS, restShare: 0 });
  let acceptedBytes = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES_MAX) {
      if (options.signal.aborted) return acceptedBytes;
      const part = piece.subarray(at, at + PIECE_BYTES_MAX);
      const accepted = restore.accept(part);
      if (!accepted.ok) throw new SnapshotUnreadable(accepted.error);
      acceptedBytes += part.length;
      if (pace.isSliceOver) await pace.rest();
    }
  }
  if (!restore.isWhole) throw new SnapshotUnreadable("it is cut short: fetch it again");
  return acceptedBytes;
}
