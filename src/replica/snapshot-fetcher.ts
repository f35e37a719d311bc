/**
 * Fetches the snapshots that a leader offers, one at a time: downloads the newest offer of the
 * present leader, decodes it beside the live machine, and keeps the result until the core has said
 * whether it is installed.
 *
 * An offer is repeated for as long as it holds; each repetition starts a failed fetch anew once its
 * pause is over, and what is no longer offered is given up. So there is no state in which a replica
 * waits for a snapshot that nobody sends (nebula #1769).
 */

import { assert, InvariantError } from "../base/assert.ts";
import type { GroupId, LogIndex, MonotonicMs, ReplicaId, ServerId } from "../base/brands.ts";
import type { SnapshotRestore } from "../machine/group.ts";
import type { LogPosition } from "../raft/types.ts";
import { Backoff } from "./backoff.ts";
import type { Clock, Logger, SnapshotSource, Timers } from "./ports.ts";
import { downloadSnapshot } from "./snapshot-download.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import { feedRestore } from "./snapshot-restore.ts";

/** Offers come with the leader's heartbeats; an election takes a second or two. */
const OFFER_MS_MAX = 10_000;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;

export interface SnapshotFetcherOptions {
  readonly group: GroupId;
  readonly machine: { beginRestore(): SnapshotRestore };
  readonly files: SnapshotKeeper;
  readonly source: SnapshotSource;
  readonly serverOf: (replica: ReplicaId) => ServerId;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** A whole file is here and will be decoded: no time for checkpoints. */
  readonly onDecoding: () => void;
  /** Decoding came to nothing. */
  readonly onDropped: () => void;
  /** Decoded, and kept until {@link SnapshotFetcher.judged}. */
  readonly onFetched: (position: LogPosition) => void;
}

/** For metrics. */
export interface FetchStats {
  installed: number;
  failed: number;
  receivedBytes: number;
}

export interface FetchedSnapshot {
  readonly position: LogPosition;
  readonly restore: SnapshotRestore;
  readonly fileBytes: number;
}

interface Offer {
  readonly from: ReplicaId;
  readonly position: LogPosition;
  seenAtMs: MonotonicMs;
}

interface Attempt {
  readonly offer: Offer;
  readonly abort: AbortController;
  /** The peer is no longer needed. */
  isDownloaded: boolean;
}

export class SnapshotFetcher {
  readonly stats: FetchStats = { installed: 0, failed: 0, receivedBytes: 0 };
  readonly #options: SnapshotFetcherOptions;
  #offer: Offer | undefined;
  #attempt: Attempt | undefined;
  #running: Promise<void> = Promise.resolve();
  /** Decoded; the core judges it, or its step is on the way to the disk. */
  #fetched: FetchedSnapshot | undefined;
  readonly #backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
  #notBeforeMs = 0;
  #isStopped = false;

  constructor(options: SnapshotFetcherOptions) {
    this.#options = options;
  }

  /** Whether this replica lags so far that only a snapshot helps. */
  get isNeeded(): boolean {
    return this.#offer !== undefined || this.#fetched !== undefined;
  }

  /** A leader offers a snapshot that the core needs. */
  offered(from: ReplicaId, position: LogPosition): void {
    const nowMs = this.#options.clock.nowMs();
    const known = this.#offer;
    const isSameLeader = known?.from === from;
    if (known !== undefined && isSameLeader && isSame(known.position, position)) {
      known.seenAtMs = nowMs;
    } else {
      // A leader's snapshots only go forward: an earlier one was offered earlier, and came late.
      if (isSameLeader && position.index <= known.position.index) return;
      if (!isSameLeader) this.#notBeforeMs = 0;
      this.#offer = { from, position: { ...position }, seenAtMs: nowMs };
      this.#attempt?.abort.abort();
    }
    this.#startIfDue();
  }

  /** Gives up what is no longer offered, or what the log has overtaken. */
  tick(appliedIndex: LogIndex): void {
    const offer = this.#offer;
    if (offer === undefined) return;
    const isOvertaken = offer.position.index <= appliedIndex;
    const isOld = this.#options.clock.nowMs() - offer.seenAtMs > OFFER_MS_MAX;
    if (!isOvertaken && !isOld) return;
    this.#offer = undefined;
    const attempt = this.#attempt;
    if (attempt !== undefined && (isOvertaken || !attempt.isDownloaded)) attempt.abort.abort();
  }

  /** The core has judged what was fetched: it will be installed, or is of no use any more. */
  judged(isAccepted: boolean): void {
    const { files, onDropped } = this.#options;
    const fetched = this.#fetched;
    if (isAccepted || fetched === undefined) return;
    this.#fetched = undefined;
    // Fetching it again would end in the same way; the core does not need it, so offers stop.
    if (this.#offer?.position === fetched.position) this.#offer = undefined;
    files.release(fetched.position);
    files.removeOthers();
    onDropped();
    this.#startIfDue();
  }

  /** The restore of the snapshot whose step is durable: to be finished now. */
  take(position: LogPosition): FetchedSnapshot {
    const fetched = this.#fetched;
    assert(
      fetched !== undefined && isSame(fetched.position, position),
      "what is installed was fetched before",
    );
    this.#fetched = undefined;
    this.stats.installed++;
    if (this.#offer !== undefined && this.#offer.position.index <= position.index) {
      this.#offer = undefined;
    }
    return fetched;
  }

  stop(): void {
    this.#isStopped = true;
    this.#attempt?.abort.abort();
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#running;
  }

  #startIfDue(): void {
    const offer = this.#offer;
    if (offer === undefined || this.#isStopped) return;
    if (this.#attempt !== undefined || this.#fetched !== undefined) return;
    if (this.#options.clock.nowMs() < this.#notBeforeMs) return;
    const attempt = { offer, abort: new AbortController(), isDownloaded: false };
    this.#attempt = attempt;
    this.#running = this.#run(attempt).finally(() => {
      this.#attempt = undefined;
      this.#startIfDue();
    });
  }

  async #run(attempt: Attempt): Promise<void> {
    const { files, onDropped } = this.#options;
    const { position } = attempt.offer;
    const { signal } = attempt.abort;
    try {
      const fetched = await this.#fetch(attempt);
      if (fetched !== undefined && !signal.aborted) {
        this.#fetched = fetched;
        this.#backoff.reset();
        this.#options.onFetched(position);
        return;
      }
      files.release(position);
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      files.release(position);
      this.#onFailed(attempt.offer, error);
    }
    if (!attempt.isDownloaded || this.#isStopped) return;
    // The next attempt must not take a file that cannot be decoded for one that it has fetched.
    files.removeOthers();
    onDropped();
  }

  async #fetch(attempt: Attempt): Promise<FetchedSnapshot | undefined> {
    const { files, source, serverOf, machine, clock, timers, onDecoding } = this.#options;
    const { from, position } = attempt.offer;
    const { signal } = attempt.abort;
    await files.hold(position);
    const name = files.nameOf(position);
    const { store } = files;
    const onReceived = (bytes: number): void => void (this.stats.receivedBytes += bytes);
    const options = { store, source, timers, onReceived };
    const fileBytes = await downloadSnapshot(options, serverOf(from), name, signal);
    if (fileBytes === undefined || signal.aborted) return undefined;
    attempt.isDownloaded = true;
    onDecoding();
    const restore = machine.beginRestore();
    await feedRestore(restore, store.read(name), { clock, timers, signal });
    return { position, restore, fileBytes };
  }

  #onFailed({ from, position }: Offer, error: unknown): void {
    const { group, clock, logger } = this.#options;
    if (this.#isStopped) return;
    this.stats.failed++;
    const isFirst = this.#backoff.isFresh;
    const retryMs = this.#backoff.take();
    this.#notBeforeMs = clock.nowMs() + retryMs;
    const fields = { group, from, index: position.index, error, retryMs };
    if (isFirst) logger.warn("snapshotFetchFailed", fields);
    else logger.debug("snapshotFetchFailed", fields);
  }
}

function isSame(a: LogPosition, b: LogPosition): boolean {
  return a.index === b.index && a.term === b.term;
}
