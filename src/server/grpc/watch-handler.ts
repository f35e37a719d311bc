/**
 * One server stream: frames are pulled from the service only while the connection takes them, so
 * that a reader that stops costs this process at most `unsentBytesMax` and one frame. What it then
 * misses is the service's business (law 22).
 */

import type { ServerWritableStream } from "@grpc/grpc-js";
import { failed, type Result } from "../../base/result.ts";
import type { Refusal } from "../../wire/api.ts";
import type { ServerStream } from "../../wire/api-services.ts";
import type { MethodRow } from "../../wire/methods.ts";
import { refusal } from "../../wire/refusal.ts";
import { refusalToStatus } from "../../wire/status-details.ts";
import type { Admission, StreamClass } from "./admission.ts";
import { type BugReports, bugToRefusal } from "./bugs.ts";

/** What differs between the kinds of streams. */
export interface StreamRules {
  readonly admissionClass: StreamClass;
  /** Frames under way before the next is pulled. A frame that is larger goes alone. */
  readonly unsentBytesMax: number;
  /** What a service that stops by itself says; undefined: that all is said, which is no refusal. */
  readonly atEnd: Refusal | undefined;
}

/** Small frames may gather, and the stream never just ends. */
export const WATCH_RULES: StreamRules = {
  admissionClass: "watch",
  unsentBytesMax: 64 * 1024,
  atEnd: refusal("TRANSIENT", "the stream ended; resume it at another server"),
};

/** The next state is asked for when the last one is sent: a slow reader gets the latest then. */
export const HEALTH_WATCH_RULES: StreamRules = {
  admissionClass: "healthWatch",
  unsentBytesMax: 0,
  atEnd: undefined,
};

export interface WatchHandlerOptions {
  readonly rules: StreamRules;
  readonly row: MethodRow<unknown, unknown>;
  readonly service: ServerStream<unknown, unknown>;
  readonly admission: Admission;
  readonly reports: BugReports;
  /** Where streams stand that whoever closes the server must end; others end by themselves. */
  readonly streams: Set<OpenStream> | undefined;
}

export interface OpenStream {
  /** Ends the stream with this refusal after the frame that is under way. */
  readonly end: (reason: Refusal) => void;
}

export function watchHandler(
  options: WatchHandlerOptions,
): (call: ServerWritableStream<Buffer, Buffer>) => void {
  const { row, admission, streams } = options;
  const { admissionClass } = options.rules;
  return (call) => {
    const full = admission.enter(admissionClass);
    const request = full === undefined ? row.decodeRequest(call.request) : failed(full);
    if (!request.ok) {
      if (full === undefined) admission.leave(admissionClass);
      call.emit("error", refusalToStatus(request.error));
      return;
    }
    const stream = new WatchStream(call, options);
    streams?.add(stream);
    void stream.run(request.value).then(() => {
      streams?.delete(stream);
      admission.leave(admissionClass);
    });
  };
}

const ENDED = Symbol("ended");

class WatchStream implements OpenStream {
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #options: WatchHandlerOptions;
  readonly #aborter = new AbortController();
  /** undefined: running. null: the client is gone, nobody reads a reason. "done": all said. */
  #ending: Refusal | "done" | null | undefined;
  /** Wakes whoever waits below when the stream is to end. */
  #wake: (() => void) | undefined;
  #unsentBytes = 0;
  #onSent: (() => void) | undefined;

  constructor(call: ServerWritableStream<Buffer, Buffer>, options: WatchHandlerOptions) {
    this.#call = call;
    this.#options = options;
  }

  end(reason: Refusal | "done" | null): void {
    if (this.#ending !== undefined) return;
    this.#ending = reason;
    this.#wake?.();
  }

  /** Resolves when the stream is over and the service's iterator is closed. Never rejects. */
  async run(request: unknown): Promise<void> {
    const { row, service, reports } = this.#options;
    this.#call.on("cancelled", () => this.end(null));
    let iterator: AsyncIterator<Result<unknown, Refusal>> | undefined;
    try {
      iterator = service(request, { signal: this.#aborter.signal })[Symbol.asyncIterator]();
      await this.#pump(iterator);
    } catch (error) {
      this.end(bugToRefusal(error, row.path, reports));
    }
    this.#finish();
    // A service that waits for its next change is woken by the signal; only then can it return.
    this.#aborter.abort();
    try {
      await iterator?.return?.();
    } catch (error) {
      bugToRefusal(error, row.path, reports);
    }
  }

  async #pump(iterator: AsyncIterator<Result<unknown, Refusal>>): Promise<void> {
    const { rules } = this.#options;
    while (this.#ending === undefined) {
      const next = await this.#unlessEnded(iterator.next());
      if (next === ENDED) return;
      if (next.done === true) return this.end(rules.atEnd ?? "done");
      if (!next.value.ok) return this.end(next.value.error);
      this.#write(this.#options.row.encodeAnswer(next.value.value));
      while (this.#unsentBytes > rules.unsentBytesMax && this.#ending === undefined) {
        await this.#unlessEnded(new Promise<void>((resolve) => (this.#onSent = resolve)));
      }
    }
  }

  /** A write that a cancellation overtakes is never called back; nobody waits for it then. */
  #write(frame: Buffer): void {
    this.#unsentBytes += frame.length;
    this.#call.write(frame, () => {
      this.#unsentBytes -= frame.length;
      this.#onSent?.();
    });
  }

  /** Not a race of promises: one that lives as long as the stream would collect its waiters. */
  #unlessEnded<T>(promise: Promise<T>): Promise<T | typeof ENDED> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(ENDED);
      promise.then(resolve, reject);
      if (this.#ending !== undefined) resolve(ENDED);
    });
  }

  #finish(): void {
    if (this.#ending === null || this.#ending === undefined) return;
    if (this.#ending === "done") this.#call.end();
    else this.#call.emit("error", refusalToStatus(this.#ending));
  }
}
