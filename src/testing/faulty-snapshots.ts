/**
 * Snapshot files between the servers of one process, over the links of a faulty network: they come
 * in small chunks, late, or break off in the middle; a sender that dies or is cut off is silent.
 */

import type { ServerId } from "../base/brands.ts";
import type { Prng } from "../base/prng.ts";
import type {
  SnapshotChunk,
  SnapshotFile,
  SnapshotRequest,
  SnapshotSource,
  SnapshotStore,
} from "../replica/ports.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface SnapshotQuality {
  readonly chunkBytes: number;
  readonly delayMsMax: number;
  /** That a chunk is the last one which comes, of those that are not the file's last. */
  readonly breaks: number;
}

interface Member {
  readonly self: ServerId;
  readonly clock: ProcessClock;
  readonly store: SnapshotStore;
}

/** As long as net/ waits for a chunk. */
const SILENCE_MS = 2_000;

export class FaultySnapshots {
  readonly #world: VirtualClock;
  readonly #prng: Prng;
  readonly #isCut: (from: ServerId, to: ServerId) => boolean;
  readonly #onBroken: () => void;
  #quality: SnapshotQuality;
  readonly #members = new Map<ServerId, Member>();
  /** Files that are open at their senders, by who fetches them. */
  readonly #open = new Map<ServerId, Set<() => void>>();

  constructor(options: {
    readonly world: VirtualClock;
    readonly prng: Prng;
    readonly quality: SnapshotQuality;
    readonly isCut: (from: ServerId, to: ServerId) => boolean;
    readonly onBroken?: () => void;
  }) {
    this.#world = options.world;
    this.#prng = options.prng;
    this.#quality = options.quality;
    this.#isCut = options.isCut;
    this.#onBroken = options.onBroken ?? ((): void => {});
  }

  setQuality(quality: SnapshotQuality): void {
    this.#quality = quality;
  }

  /** The files of a server's process; its next one joins again. */
  join(self: ServerId, clock: ProcessClock, store: SnapshotStore): SnapshotSource {
    const member = { self, clock, store };
    this.#members.set(self, member);
    return { fetch: (from, request, signal) => this.#fetch(member, from, request, signal) };
  }

  /** The process has ended; whoever sent it something closes the file. */
  leave(self: ServerId): void {
    this.#members.delete(self);
    for (const close of this.#open.get(self) ?? []) close();
    this.#open.delete(self);
  }

  async *#fetch(
    receiver: Member,
    from: ServerId,
    { name, offset }: SnapshotRequest,
    signal: AbortSignal,
  ): AsyncGenerator<SnapshotChunk, undefined, undefined> {
    const sender = this.#members.get(from);
    if (sender === undefined) throw new Error(`server ${from} cannot be reached`);
    const file = await this.#ask(receiver, sender, signal, () => sender.store.openFile(name));
    if (file === undefined) throw new Error(`server ${from} does not have the snapshot`);
    const close = this.#closer(receiver.self, sender, file);
    try {
      const { fileBytes } = file;
      for (let at = offset; at < fileBytes;) {
        const { chunkBytes, breaks } = this.#quality;
        const bytes = await this.#ask(receiver, sender, signal, () => file.read(at, chunkBytes));
        yield { fileBytes, offset: at, bytes };
        at += bytes.length;
        if (at >= fileBytes || !this.#prng.chance(breaks)) continue;
        this.#onBroken();
        throw new Error(`the stream from server ${from} broke`);
      }
      return undefined;
    } finally {
      close();
    }
  }

  /** Something that the sender does, there and back. */
  #ask<T>(
    receiver: Member,
    sender: Member,
    signal: AbortSignal,
    act: () => Promise<T>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        cancel();
        signal.removeEventListener("abort", giveUp);
        settle();
      };
      const giveUp = (): void => end(() => reject(new Error("the fetch was given up")));
      const cancel = receiver.clock.after(SILENCE_MS, () => {
        end(() => reject(new Error(`server ${sender.self} is silent`)));
      });
      if (signal.aborted) return giveUp();
      signal.addEventListener("abort", giveUp);
      const answer = (settle: () => void): void => {
        this.#travel(sender, receiver, () => end(settle));
      };
      this.#travel(receiver, sender, () => {
        act().then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(error as Error)),
        );
      });
    });
  }

  #travel(from: Member, to: Member, arrive: () => void): void {
    const delayMs = 0.05 + this.#prng.nextFraction() * this.#quality.delayMsMax;
    this.#world.after(delayMs, () => {
      const isThere = this.#members.get(from.self) === from && this.#members.get(to.self) === to;
      if (isThere && !this.#isCut(from.self, to.self)) to.clock.enter(arrive);
    });
  }

  #closer(receiver: ServerId, sender: Member, file: SnapshotFile): () => void {
    let opened = this.#open.get(receiver);
    if (opened === undefined) {
      opened = new Set();
      this.#open.set(receiver, opened);
    }
    const close = (): void => {
      if (!opened.delete(close)) return;
      sender.clock.enter(() => void file.close());
    };
    opened.add(close);
    return close;
  }
}
