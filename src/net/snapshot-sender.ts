/**
 * The sending side of snapshot files: reads a published file in chunks and writes them at the pace
 * that the receiver, and the rate for all of this server, allow.
 *
 * The receiver pulls: the bytes flow from called to caller, where HTTP/2 windows can be large, and
 * one that reads slowly holds up nothing but its own stream. One chunk is on its way at a time.
 */

import { type ServerWritableStream, status } from "@grpc/grpc-js";
import { InvariantError } from "../base/assert.ts";
import type { ServerId } from "../base/brands.ts";
import type { SnapshotFile, SnapshotName } from "../replica/ports.ts";
import type { FetchSnapshotRequest__Output } from "../wire/generated/cadastre/peer/v1/FetchSnapshotRequest.ts";
import type { SnapshotChunk } from "../wire/generated/cadastre/peer/v1/SnapshotChunk.ts";
import {
  chunkToProto,
  type RequestedSnapshot,
  SNAPSHOT_CHUNK_BYTES_MAX,
} from "../wire/peer-snapshot.ts";
import type { NetworkContext } from "./peer-link.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Sends at once: two followers of five can be brought up while two keep the quorum. */
const SENDS_MAX = 2;
/** What may leave at once after a pause. */
const BURST_BYTES = 4 * SNAPSHOT_CHUNK_BYTES_MAX;

export interface SnapshotSenderOptions {
  readonly context: NetworkContext;
  /** A published file; undefined: there is none. The caller closes it. */
  readonly openSnapshot: (name: SnapshotName) => Promise<SnapshotFile | undefined>;
  readonly bytesPerSecond: number;
}

/** Since the start of the process. */
export interface SendStats {
  readonly active: number;
  readonly completed: number;
  /** Ended by a failure, or given up by the receiver. */
  readonly broken: number;
  readonly refused: number;
  readonly sentBytes: number;
}

export type FetchCall = ServerWritableStream<FetchSnapshotRequest__Output, SnapshotChunk>;

export class SnapshotSender {
  readonly #options: SnapshotSenderOptions;
  readonly #bucket: TokenBucket;
  /** By receiver and group: a receiver that asks again has given its earlier call up. */
  readonly #sends = new Map<string, Send>();
  readonly #counts = { completed: 0, broken: 0, refused: 0, sentBytes: 0 };

  constructor(options: SnapshotSenderOptions) {
    this.#options = options;
    const { bytesPerSecond, context } = options;
    const nowMs = context.clock.nowMs();
    this.#bucket = new TokenBucket({ bytesPerSecond, burstBytes: BURST_BYTES, nowMs });
  }

  get stats(): SendStats {
    return { active: this.#sends.size, ...this.#counts };
  }

  /** Answers a call whose ids were checked. A bug rejects. */
  async serve(call: FetchCall, { ids, request }: RequestedSnapshot): Promise<void> {
    const key = keyOf(ids.from, request.name);
    this.#sends.get(key)?.end();
    this.#sends.delete(key);
    if (this.#sends.size >= SENDS_MAX) {
      this.#refuse(call, status.RESOURCE_EXHAUSTED, "enough snapshots are being sent");
      return;
    }
    const send = new Send(call, this.#options.context);
    this.#sends.set(key, send);
    try {
      await this.#send(call, send, request);
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      this.#counts.broken++;
      const { logger } = this.#options.context;
      logger.warn("snapshotSendFailed", { peer: ids.from, ...describe(request.name), error });
      fail(call, status.INTERNAL, "the snapshot cannot be read");
    } finally {
      send.end();
      if (this.#sends.get(key) === send) this.#sends.delete(key);
    }
  }

  close(): void {
    for (const send of this.#sends.values()) send.end();
  }

  async #send(
    call: FetchCall,
    send: Send,
    { name, offset }: RequestedSnapshot["request"],
  ): Promise<void> {
    const file = await this.#options.openSnapshot(name);
    if (file === undefined) {
      this.#refuse(call, status.NOT_FOUND, "there is no such snapshot here");
      return;
    }
    try {
      if (offset >= file.fileBytes) {
        this.#refuse(call, status.INVALID_ARGUMENT, `offset: the file has ${file.fileBytes} bytes`);
      } else if (await this.#sendFrom(send, file, offset)) {
        this.#counts.completed++;
        call.end();
      } else {
        this.#counts.broken++;
        // Whoever still listens must not take what came for the whole.
        fail(call, status.ABORTED, "the sending was given up");
      }
    } finally {
      await file.close();
    }
  }

  /** False when the call ended before the file did. */
  async #sendFrom(send: Send, file: SnapshotFile, from: number): Promise<boolean> {
    const { clock } = this.#options.context;
    const { fileBytes } = file;
    for (let offset = from; offset < fileBytes;) {
      const bytes = await file.read(offset, Math.min(SNAPSHOT_CHUNK_BYTES_MAX, fileBytes - offset));
      if (bytes.length === 0) throw new Error("the file is shorter than it was");
      const waitMs = this.#bucket.take(bytes.length, clock.nowMs());
      if (!(await send.pause(waitMs))) return false;
      if (!(await send.write(chunkToProto({ fileBytes, offset, bytes })))) return false;
      this.#counts.sentBytes += bytes.length;
      offset += bytes.length;
    }
    return true;
  }

  #refuse(call: FetchCall, code: status, details: string): void {
    this.#counts.refused++;
    fail(call, code, details);
  }
}

/** One call: waits that its end cuts short. */
class Send {
  readonly #call: FetchCall;
  readonly #context: NetworkContext;
  #isEnded = false;
  #wake: () => void = () => {};

  constructor(call: FetchCall, context: NetworkContext) {
    this.#call = call;
    this.#context = context;
    // The listeners stay for good: a stream without one for "error" would throw.
    for (const event of ["cancelled", "close", "error"]) call.on(event, () => this.end());
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** False when the call has ended. */
  pause(ms: number): Promise<boolean> {
    return ms > 0 ? this.#until(ms, () => {}) : Promise.resolve(!this.#isEnded);
  }

  /** False when the call has ended, or the receiver did not take the chunk in time. */
  async write(chunk: SnapshotChunk): Promise<boolean> {
    const { snapshotIdleMs } = this.#context.tuning;
    let isTaken = false;
    await this.#until(snapshotIdleMs, (done) => {
      this.#call.write(chunk, () => {
        isTaken = true;
        done();
      });
    });
    return isTaken && !this.#isEnded;
  }

  #until(ms: number, begin: (done: () => void) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancelTimer();
        this.#wake = () => {};
        resolve(!this.#isEnded);
      };
      const cancelTimer = this.#context.timers.after(ms, done);
      this.#wake = done;
      if (this.#isEnded) done();
      else begin(done);
    });
  }
}

function fail(call: FetchCall, code: status, details: string): void {
  if (!call.cancelled) call.emit("error", { code, details });
}

function keyOf(peer: ServerId, { group }: SnapshotName): string {
  return `${peer}/${group}`;
}

function describe({ group, position }: SnapshotName): Readonly<Record<string, number>> {
  return { group, index: position.index };
}
