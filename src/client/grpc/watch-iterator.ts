/**
 * A server stream as an iterator with backpressure: what is not asked for stays in grpc-js's buffer
 * of 16 frames and, when that is full, at the server. The stream is opened by the first `next` and
 * closed by `return`, by the signal, or by its end, whichever comes first.
 */

import type { ClientReadableStream } from "@grpc/grpc-js";
import { failed, type Result } from "../../base/result.ts";
import type { Refusal } from "../../wire/api.ts";

type Frames<Frame> = IteratorResult<Result<Frame, Refusal>, undefined>;

export interface WatchSource<Frame> {
  /** Starts the call; a refusal when it could not be started. */
  readonly open: () => Result<ClientReadableStream<Buffer>, Refusal>;
  readonly decode: (bytes: Buffer) => Result<Frame, Refusal>;
  readonly toRefusal: (error: unknown, call: ClientReadableStream<Buffer>) => Refusal;
  readonly onClosed: (call: ClientReadableStream<Buffer>) => void;
  readonly signal: AbortSignal | undefined;
}

const DONE = { done: true, value: undefined } as const;

export class WatchIterator<Frame> implements AsyncIterator<Result<Frame, Refusal>, undefined> {
  readonly #source: WatchSource<Frame>;
  readonly #waiters: ((frames: Frames<Frame>) => void)[] = [];
  #call: ClientReadableStream<Buffer> | undefined;
  /** The last thing to say, after the frames that have arrived. */
  #ending: Refusal | undefined;
  #isOver = false;

  constructor(source: WatchSource<Frame>) {
    this.#source = source;
  }

  next(): Promise<Frames<Frame>> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      if (this.#call === undefined && !this.#isOver) this.#open();
      this.#deliver();
    });
  }

  return(): Promise<Frames<Frame>> {
    this.#close();
    return Promise.resolve(DONE);
  }

  #open(): void {
    const { signal } = this.#source;
    if (signal?.aborted === true) return this.#close();
    const opened = this.#source.open();
    if (!opened.ok) {
      this.#ending = opened.error;
      return;
    }
    const call = opened.value;
    this.#call = call;
    signal?.addEventListener("abort", this.#onAbort);
    call.on("readable", () => this.#deliver());
    // Stays for good: the cancellation of a stream that is over arrives as an error, too.
    call.on("error", (error) => this.#end(error, call));
    call.on("end", () => this.#end(undefined, call));
    call.on("status", () => this.#end(undefined, call));
  }

  readonly #onAbort = (): void => this.#close();

  #end(error: unknown, call: ClientReadableStream<Buffer>): void {
    // Without a status, the error that follows says why; it comes before the next turn.
    if (error === undefined && this.#ending === undefined) {
      setImmediate(() => {
        this.#ending ??= this.#source.toRefusal(new Error("the server ended the stream"), call);
        this.#deliver();
      });
      return;
    }
    this.#ending ??= this.#source.toRefusal(error, call);
    this.#deliver();
  }

  #deliver(): void {
    while (this.#waiters.length > 0) {
      const frames = this.#take();
      if (frames === undefined) return;
      this.#waiters.shift()?.(frames);
    }
  }

  /** What is next, if it is known by now. */
  #take(): Frames<Frame> | undefined {
    if (this.#isOver) return DONE;
    const bytes = this.#call?.read() as Buffer | null | undefined;
    if (bytes !== null && bytes !== undefined) {
      const frame = this.#source.decode(bytes);
      if (!frame.ok) this.#finish();
      return { done: false, value: frame };
    }
    if (this.#ending === undefined) return undefined;
    const refusal = this.#ending;
    this.#finish();
    return { done: false, value: failed(refusal) };
  }

  #close(): void {
    this.#finish();
    this.#deliver();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.signal?.removeEventListener("abort", this.#onAbort);
    if (this.#call === undefined) return;
    this.#call.cancel();
    this.#source.onClosed(this.#call);
  }
}
