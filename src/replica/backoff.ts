/**
 * How long to wait before the next attempt: doubles from the least pause to the longest, and begins
 * anew after a success.
 */

export class Backoff {
  readonly #msMin: number;
  readonly #msMax: number;
  #nextMs: number;

  constructor(msMin: number, msMax: number) {
    this.#msMin = msMin;
    this.#msMax = msMax;
    this.#nextMs = msMin;
  }

  /** Whether the last attempt succeeded, or there was none. */
  get isFresh(): boolean {
    return this.#nextMs === this.#msMin;
  }

  /** The pause after one more failure. */
  take(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#msMax);
    return ms;
  }

  reset(): void {
    this.#nextMs = this.#msMin;
  }
}
