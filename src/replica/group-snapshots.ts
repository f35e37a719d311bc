/**
 * Everything that one replica does with snapshots: starts from one, takes them, fetches those that
 * a leader offers, and sees to it that files stay as long as somebody may need them.
 *
 * The replica steps the core and tells what came of it; what is ready here comes back as an input.
 */

import { defined, InvariantError } from "../base/assert.ts";
import type { GroupId, LogIndex, ReplicaId, ServerId } from "../base/brands.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { SnapshotCut, SnapshotRestore } from "../machine/group.ts";
import type { Input, SnapshotReceivedInput, SnapshotTakenInput } from "../raft/input.ts";
import type { Output, Persist } from "../raft/output.ts";
import type { LogPosition } from "../raft/types.ts";
import { Checkpointer, type CheckpointStats } from "./checkpointer.ts";
import type { Clock, Logger, SnapshotSource, SnapshotStore, Timers } from "./ports.ts";
import { type FetchStats, type FetchedSnapshot, SnapshotFetcher } from "./snapshot-fetcher.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import { feedRestore } from "./snapshot-restore.ts";
import type { Turns } from "./turns.ts";

/** What the replicas of a server share for their snapshots. */
export interface SnapshotPorts {
  readonly store: SnapshotStore;
  readonly source: SnapshotSource;
  readonly turns: Turns;
  /** See {@link CheckpointerOptions.bytesMin}. */
  readonly checkpointBytesMin: number;
  readonly serverOf: (replica: ReplicaId) => ServerId;
}

export interface GroupSnapshotsOptions extends SnapshotPorts {
  readonly group: GroupId;
  readonly machine: { openCut(): SnapshotCut; beginRestore(): SnapshotRestore };
  /** What the disk names. */
  readonly durable: LogPosition;
  readonly inUse: () => readonly LogPosition[];
  readonly appliedPosition: () => LogPosition;
  readonly post: (input: Unstamped) => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
}

type Unstamped = Omit<SnapshotTakenInput, "nowMs"> | Omit<SnapshotReceivedInput, "nowMs">;

export class GroupSnapshots {
  readonly #options: GroupSnapshotsOptions;
  readonly #files: SnapshotKeeper;
  readonly #checkpointer: Checkpointer;
  readonly #fetcher: SnapshotFetcher;
  readonly #stop = new AbortController();
  /** The core has taken them; their steps are on the way to the disk, in this order. */
  readonly #accepted: LogPosition[] = [];
  /** Steps that are durable and whose report waits to be stepped: their snapshots, in order. */
  readonly #reported: (LogPosition | undefined)[] = [];
  #restoring: Promise<unknown> = Promise.resolve();

  constructor(options: GroupSnapshotsOptions) {
    const { group, machine, store, logger, inUse, durable, post } = options;
    this.#options = options;
    const files = new SnapshotKeeper({ group, store, logger, inUse, durable });
    this.#files = files;
    this.#checkpointer = new Checkpointer({
      ...options,
      files,
      bytesMin: options.checkpointBytesMin,
      position: options.appliedPosition,
      onTaken: (position) => post({ kind: "snapshotTaken", position }),
    });
    this.#fetcher = new SnapshotFetcher({
      ...options,
      machine,
      files,
      onDecoding: () => this.#checkpointer.holdBack(),
      onDropped: () => this.#checkpointer.goOn(),
      onFetched: (position) => post({ kind: "snapshotReceived", position }),
    });
  }

  get checkpointStats(): Readonly<CheckpointStats> {
    return this.#checkpointer.stats;
  }

  get fetchStats(): Readonly<FetchStats> {
    return this.#fetcher.stats;
  }

  /** Whether this replica lags so far that only a snapshot helps. */
  get isAwaited(): boolean {
    return this.#fetcher.isNeeded;
  }

  /** Puts the state that the disk names into the machine. Failed: why it cannot, and what to do. */
  restore(): Promise<Result<"restored" | "stopped", string>> {
    const restoring = this.#restore();
    this.#restoring = restoring;
    return restoring;
  }

  /** Entries of so many bytes were applied. */
  applied(bytes: number): void {
    this.#checkpointer.applied(bytes);
  }

  tick(appliedIndex: LogIndex): void {
    this.#fetcher.tick(appliedIndex);
  }

  /** A step is durable; its `persisted` was posted. */
  reported({ snapshot }: Persist): void {
    this.#reported.push(snapshot);
  }

  /** The core has stepped. What is to be put into the machine now, if anything is. */
  stepped(input: Input, output: Output): FetchedSnapshot | undefined {
    for (const { from, position } of output.fetches) this.#fetcher.offered(from, position);
    const isTaken = output.persist?.snapshot !== undefined;
    switch (input.kind) {
      case "snapshotTaken":
        if (isTaken) this.#accepted.push(input.position);
        else this.#files.release(input.position);
        break;
      case "snapshotReceived":
        if (isTaken) this.#accepted.push(input.position);
        this.#fetcher.judged(isTaken);
        break;
      case "persisted":
        if (this.#reported.shift() !== undefined) this.#onDurable();
        break;
      case "tick":
      case "message":
      case "propose":
      case "readIndex":
      case "applied":
      case "peerUnreachable":
      case "transfer":
        break;
    }
    return output.install && this.#fetcher.take(output.install);
  }

  /** The machine's state is that of the fetched snapshot. */
  replaced({ fileBytes }: FetchedSnapshot): void {
    this.#checkpointer.replaced(fileBytes);
    this.#checkpointer.goOn();
  }

  stop(): void {
    this.#stop.abort();
    this.#checkpointer.stop();
    this.#fetcher.stop();
  }

  /** Resolves when, after a stop, no file is touched any more. */
  async settled(): Promise<void> {
    await this.#restoring;
    await this.#checkpointer.settled();
    await this.#fetcher.settled();
    await this.#files.settled();
  }

  async #restore(): Promise<Result<"restored" | "stopped", string>> {
    const { machine, durable, clock, timers } = this.#options;
    const { signal } = this.#stop;
    try {
      const restore = machine.beginRestore();
      const pieces = this.#files.store.read(this.#files.nameOf(durable));
      const bytes = await feedRestore(restore, pieces, { clock, timers, signal });
      if (signal.aborted) return ok("stopped");
      const finished = restore.finish();
      if (!finished.ok) return failed(finished.error);
      this.#checkpointer.replaced(bytes);
      return ok("restored");
    } catch (error) {
      if (error instanceof InvariantError || !(error instanceof Error)) throw error;
      return failed(error.message);
    }
  }

  #onDurable(): void {
    const position = defined(this.#accepted.shift(), "what is durable was accepted before");
    this.#files.release(position);
    this.#files.named(position);
  }
}
