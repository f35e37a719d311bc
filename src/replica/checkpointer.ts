/**
 * Takes checkpoints of one group: when the log has grown by as much as a snapshot costs, the
 * machine's state is fixed at the applied position and written to a file in short slices, while
 * entries go on being applied. The core hears of it when the file is durable, and shortens the log.
 *
 * A checkpoint that fails is tried again later, and the log is kept meanwhile. One that a snapshot
 * from the leader overtakes is given up.
 */

import { assert, InvariantError } from "../base/assert.ts";
import { type GroupId, REVISION_INDEX_LIMIT } from "../base/brands.ts";
import type { SnapshotCut } from "../machine/group.ts";
import type { LogPosition } from "../raft/types.ts";
import { Backoff } from "./backoff.ts";
import { Pace } from "./pace.ts";
import type { Clock, Logger, SnapshotWriter, Timers } from "./ports.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { Turns } from "./turns.ts";

/** Short beside a heartbeat. With a rest as long as the work, half of the thread is left. */
const SLICE_MS = 3;
const REST_SHARE = 1;

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;

export interface CheckpointerOptions {
  readonly group: GroupId;
  readonly machine: { openCut(): SnapshotCut };
  readonly files: SnapshotKeeper;
  /** Shared by the groups of a server. */
  readonly turns: Turns;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /**
   * Bytes of applied entries between two checkpoints, or those of the last file if it is larger:
   * so that writing states costs no more than writing the log does.
   */
  readonly bytesMin: number;
  /** Of the last applied entry, where the machine stands. */
  readonly position: () => LogPosition;
  /** The file is durable, and held until the core has judged it. */
  readonly onTaken: (position: LogPosition) => void;
}

/** For metrics and status. */
export interface CheckpointStats {
  taken: number;
  failed: number;
  /** Of all that were taken, from their cuts to their publication. */
  durationMs: number;
  /** Of the last one that was taken by this process. */
  lastFileBytes: number | undefined;
}

export class Checkpointer {
  readonly stats: CheckpointStats = {
    taken: 0,
    failed: 0,
    durationMs: 0,
    lastFileBytes: undefined,
  };
  readonly #options: CheckpointerOptions;
  /** Of the entries applied since the state of the present snapshot. */
  #bytes = 0;
  /** Of the present snapshot, about. */
  #fileBytes = 0;
  #run: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
  #cancelRetry: (() => void) | undefined;
  #isHeldBack = false;
  #isStopped = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Entries of so many bytes were applied. */
  applied(bytes: number): void {
    this.#bytes += bytes;
    this.#startIfDue();
  }

  /** The machine's state was replaced by a snapshot of this size. */
  replaced(fileBytes: number): void {
    this.#bytes = 0;
    this.#fileBytes = fileBytes;
  }

  /** The machine's state is about to be replaced: what is under way ends, nothing begins. */
  holdBack(): void {
    this.#isHeldBack = true;
    this.#run?.abort();
  }

  goOn(): void {
    this.#isHeldBack = false;
    this.#startIfDue();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelRetry?.();
    this.#run?.abort();
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#running;
  }

  #startIfDue(): void {
    if (this.#isStopped || this.#isHeldBack || this.#run !== undefined) return;
    if (this.#cancelRetry !== undefined) return;
    if (this.#bytes < Math.max(this.#options.bytesMin, this.#fileBytes)) return;
    const run = new AbortController();
    this.#run = run;
    this.#running = this.#take(run.signal).finally(() => {
      this.#run = undefined;
      this.#startIfDue();
    });
  }

  async #take(signal: AbortSignal): Promise<void> {
    const giveBack = await this.#options.turns.take(signal);
    if (giveBack === undefined) return;
    try {
      // The turn of the loop that has applied entries has had its slice already.
      await this.#pace(signal).rest();
      if (!signal.aborted) await this.#write(signal);
    } finally {
      giveBack();
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { group, machine, files, clock, onTaken, logger } = this.#options;
    const startedAtMs = clock.nowMs();
    // Nothing may come between these three: they describe one moment.
    const position = { ...this.#options.position() };
    const bytesAtCut = this.#bytes;
    const cut = machine.openCut();
    assert(cut.revision % REVISION_INDEX_LIMIT === position.index, "a cut is where the log says");
    const closeCut = (): void => cut.close();
    signal.addEventListener("abort", closeCut, { once: true });
    const file: { writer: SnapshotWriter | undefined } = { writer: undefined };
    try {
      await files.hold(position);
      file.writer = files.store.create(files.nameOf(position));
      const isWhole = await this.#writePieces(cut, file.writer, signal);
      const fileBytes = isWhole ? await file.writer.publish() : undefined;
      if (fileBytes === undefined) await abandon(file.writer);
      if (fileBytes === undefined || signal.aborted) {
        files.release(position);
        return;
      }
      this.#bytes -= bytesAtCut;
      this.#fileBytes = fileBytes;
      this.#backoff.reset();
      const durationMs = Math.round(clock.nowMs() - startedAtMs);
      this.stats.taken++;
      this.stats.durationMs += durationMs;
      this.stats.lastFileBytes = fileBytes;
      logger.info("checkpointTaken", { group, index: position.index, fileBytes, durationMs });
      onTaken(position);
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      await abandon(file.writer);
      files.release(position);
      this.#onFailed(error);
    } finally {
      signal.removeEventListener("abort", closeCut);
      cut.close();
    }
  }

  /** False when it was given up. */
  async #writePieces(
    cut: SnapshotCut,
    writer: SnapshotWriter,
    signal: AbortSignal,
  ): Promise<boolean> {
    const pace = this.#pace(signal);
    while (!signal.aborted) {
      const piece = cut.next();
      if (piece === undefined) return true;
      await writer.append(piece);
      if (pace.isSliceOver) await pace.rest();
    }
    return false;
  }

  #pace(signal: AbortSignal): Pace {
    const { clock, timers } = this.#options;
    return new Pace({ clock, timers, sliceMs: SLICE_MS, restShare: REST_SHARE, signal });
  }

  #onFailed(error: unknown): void {
    const { group, timers, logger } = this.#options;
    if (this.#isStopped) return;
    this.stats.failed++;
    const isFirst = this.#backoff.isFresh;
    const retryMs = this.#backoff.take();
    if (isFirst) logger.warn("checkpointFailed", { group, error, retryMs });
    else logger.debug("checkpointFailed", { group, error, retryMs });
    this.#cancelRetry = timers.after(retryMs, () => {
      this.#cancelRetry = undefined;
      this.#startIfDue();
    });
  }
}

/** Drops an unfinished file; a failure leaves a draft, which the next removal takes. */
async function abandon(writer: SnapshotWriter | undefined): Promise<void> {
  try {
    await writer?.abort();
  } catch (error) {
    if (error instanceof InvariantError) throw error;
  }
}
