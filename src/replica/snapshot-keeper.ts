/**
 * Which snapshot files of one group must stay, and the removal of the others.
 *
 * A file is needed from its first byte until the log store names another one. In between nobody
 * but its maker knows of it: the core hears of it when it is whole, and the disk later still. So
 * whoever makes a file holds its position meanwhile, and removals leave held ones alone, and the
 * one that the disk names:
 *   1. checkpoint 7 is durable in the log store, and the removal of other files begins;
 *   2. checkpoint 9 was published meanwhile, and its step waits for the disk;
 *   3. without holding, 9's file would be gone when its step becomes durable. And by the core's
 *      word alone, for which 9 counts already, 7's would be gone if that step never does.
 */

import { InvariantError } from "../base/assert.ts";
import type { GroupId } from "../base/brands.ts";
import type { LogPosition } from "../raft/types.ts";
import type { Logger, SnapshotName, SnapshotStore } from "./ports.ts";

export interface SnapshotKeeperOptions {
  readonly group: GroupId;
  readonly store: SnapshotStore;
  readonly logger: Logger;
  /** What the core needs: the present snapshot, and those that are offered to followers. */
  readonly inUse: () => readonly LogPosition[];
  /** The snapshot that the disk names. */
  readonly durable: LogPosition;
}

export class SnapshotKeeper {
  readonly store: SnapshotStore;
  readonly #options: SnapshotKeeperOptions;
  readonly #held = new Set<LogPosition>();
  #durable: LogPosition;
  /** Settles when the last removal that was asked for is over. */
  #removal: Promise<void> = Promise.resolve();

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
    this.store = options.store;
    this.#durable = options.durable;
  }

  nameOf(position: LogPosition): SnapshotName {
    return { group: this.#options.group, position };
  }

  /** Resolves when the file may be begun: a removal under way does not know of it yet. */
  async hold(position: LogPosition): Promise<void> {
    this.#held.add(position);
    await this.#removal;
  }

  /** Holds are told apart by the object, not by its value. */
  release(position: LogPosition): void {
    this.#held.delete(position);
  }

  /** The disk names this snapshot from now on. */
  named(position: LogPosition): void {
    this.#durable = position;
    this.removeOthers();
  }

  removeOthers(): void {
    const { group, store, logger, inUse } = this.#options;
    this.#removal = this.#removal.then(async () => {
      try {
        await store.retain(group, [...inUse(), ...this.#held, this.#durable]);
      } catch (error) {
        if (error instanceof InvariantError) throw error;
        // They only take room; the next removal tries again.
        logger.warn("snapshotRemovalFailed", { group, error });
      }
    });
  }

  /** Resolves when no removal is under way. */
  async settled(): Promise<void> {
    await this.#removal;
  }
}
