/**
 * Brings one snapshot file from a peer into the store: what an earlier attempt received is kept,
 * the rest is pulled, and the file is verified as a whole before it gets its name.
 */

import type { ServerId } from "../base/brands.ts";
import type {
  SnapshotChunk,
  SnapshotName,
  SnapshotReceiver,
  SnapshotRequest,
  SnapshotSource,
  SnapshotStore,
  Timers,
} from "./ports.ts";

/** A peer that gives nothing for so long is given up: nobody waits for a snapshot for ever. */
const IDLE_MS_MAX = 10_000;

export interface DownloadOptions {
  readonly store: SnapshotStore;
  readonly source: SnapshotSource;
  readonly timers: Timers;
  readonly onReceived: (bytes: number) => void;
}

/** What a peer sent does not fit what was asked, or it sent nothing for too long. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
}

/**
 * The size of the file, once it is published; undefined when the signal was aborted first. Rejects
 * with the source's or the store's error; what was received is kept for another attempt.
 */
export async function downloadSnapshot(
  options: DownloadOptions,
  from: ServerId,
  name: SnapshotName,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { store } = options;
  const published = await store.openFile(name);
  if (published !== undefined) {
    // An earlier attempt came so far, and the process ended before the core heard of it.
    await published.close();
    return published.fileBytes;
  }
  // The size is in every chunk; a receiver needs it before it can say what it has already.
  const pull = new Pull(options, from, { name, offset: 0 }, signal);
  try {
    const first = await pull.next();
    if (first === undefined) return undefined;
    const receiver = await store.receive(name, first.fileBytes);
    try {
      const isWhole = await receiveRest(options, { from, name, pull, first, receiver }, signal);
      if (isWhole) await receiver.publish();
      else await receiver.suspend();
      return isWhole ? first.fileBytes : undefined;
    } catch (error) {
      await receiver.suspend();
      throw error;
    }
  } finally {
    pull.end();
  }
}

interface Begun {
  readonly from: ServerId;
  readonly name: SnapshotName;
  readonly pull: Pull;
  /** What `pull` has given so far. */
  readonly first: SnapshotChunk;
  readonly receiver: SnapshotReceiver;
}

/** False when the signal was aborted before all was there. */
async function receiveRest(
  options: DownloadOptions,
  { from, name, pull, first, receiver }: Begun,
  signal: AbortSignal,
): Promise<boolean> {
  const { fileBytes } = first;
  if (receiver.offset === 0) return receiveFrom(options, { pull, first, receiver }, signal);
  pull.end();
  if (receiver.offset === fileBytes) return true;
  const rest = new Pull(options, from, { name, offset: receiver.offset }, signal);
  try {
    const next = await rest.next();
    if (next === undefined) return false;
    if (next.fileBytes !== fileBytes) throw new DownloadError("the file has changed its size");
    return await receiveFrom(options, { pull: rest, first: next, receiver }, signal);
  } finally {
    rest.end();
  }
}

async function receiveFrom(
  { onReceived }: DownloadOptions,
  { pull, first, receiver }: Pick<Begun, "pull" | "first" | "receiver">,
  signal: AbortSignal,
): Promise<boolean> {
  const { fileBytes } = first;
  let offset = receiver.offset;
  for (let chunk: SnapshotChunk | undefined = first; ; chunk = await pull.next()) {
    if (chunk === undefined || signal.aborted) return false;
    if (chunk.offset !== offset || chunk.fileBytes !== fileBytes) {
      throw new DownloadError(`a chunk at ${chunk.offset} of ${chunk.fileBytes} came at ${offset}`);
    }
    offset += chunk.bytes.length;
    if (offset > fileBytes) throw new DownloadError("more came than the file has");
    await receiver.append(chunk.bytes);
    onReceived(chunk.bytes.length);
    if (offset === fileBytes) return !signal.aborted;
  }
}

/** One stream of chunks that nobody waits for longer than the idle time. */
class Pull {
  readonly #timers: Timers;
  readonly #signal: AbortSignal;
  /** Ends the stream at its source. */
  readonly #stop = new AbortController();
  readonly #chunks: AsyncIterator<SnapshotChunk>;

  constructor(
    { source, timers }: DownloadOptions,
    from: ServerId,
    request: SnapshotRequest,
    signal: AbortSignal,
  ) {
    this.#timers = timers;
    this.#signal = signal;
    this.#chunks = source.fetch(from, request, this.#stop.signal)[Symbol.asyncIterator]();
  }

  /** undefined when the signal is aborted. Rejects when the stream ends, or stands still. */
  next(): Promise<SnapshotChunk | undefined> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
        then();
      };
      const onAbort = (): void => settle(() => resolve(undefined));
      const cancelTimer = this.#timers.after(IDLE_MS_MAX, () =>
        settle(() => reject(new DownloadError(`nothing came for ${IDLE_MS_MAX} ms`))),
      );
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener("abort", onAbort);
      this.#chunks.next().then(
        ({ done, value }) =>
          settle(() => {
            if (done === true) reject(new DownloadError("the stream ended before the file did"));
            else resolve(value);
          }),
        (error: unknown) => settle(() => reject(error as Error)),
      );
    });
  }

  end(): void {
    this.#stop.abort();
    // A source that is stuck must not hold up whoever ends it.
    void this.#chunks.return?.().then(ignore, ignore);
  }
}

function ignore(): void {}
