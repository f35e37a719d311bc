/**
 * What has arrived of a stream, for one reader: an async iterator that is filled from outside, by a
 * sender that waits when the reader is too far behind.
 */

/** Frames that may be under way or lie unread: what a connection buffers. */
const FRAMES_MAX = 8;

export class FrameInbox<Frame> {
  readonly #frames: Frame[] = [];
  #isEnded = false;
  #waiting: ((next: IteratorResult<Frame>) => void) | undefined;
  /** Frames that were sent and have not been read. */
  #unread = 0;
  #onRoom: (() => void) | undefined;

  /** Resolves when one more frame may be sent. The sender asks before each. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
      this.#tellRoom();
    });
  }

  /** Nothing that is pushed after the last one arrives. */
  push(frame: Frame, isLast: boolean): void {
    if (this.#isEnded) return;
    this.#frames.push(frame);
    if (isLast) this.#isEnded = true;
    this.#serve();
  }

  /** What has arrived can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#serve();
    this.#tellRoom();
  }

  next(): Promise<IteratorResult<Frame>> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#serve();
    });
  }

  #serve(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (this.#frames.length === 0 && !this.#isEnded)) return;
    this.#waiting = undefined;
    const frame = this.#frames.shift();
    if (frame === undefined) return waiting({ done: true, value: undefined });
    this.#unread--;
    this.#tellRoom();
    waiting({ done: false, value: frame });
  }

  #tellRoom(): void {
    if (this.#onRoom === undefined || (this.#unread >= FRAMES_MAX && !this.#isEnded)) return;
    this.#unread++;
    this.#onRoom();
    this.#onRoom = undefined;
  }
}
