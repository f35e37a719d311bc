/**
 * Does one thing after the other at an even pace: so many in every interval, round and round. What
 * a late timer has missed is made up for at once, as far as one round.
 */

const STEP_MS = 5;

export class Pacer {
  readonly #count: number;
  readonly #intervalMs: number;
  readonly #act: (at: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #startedAtMs = 0;
  #done = 0;

  constructor(count: number, intervalMs: number, act: (at: number) => void) {
    this.#count = count;
    this.#intervalMs = intervalMs;
    this.#act = act;
  }

  start(): void {
    this.#startedAtMs = performance.now();
    this.#done = 0;
    this.#timer = setInterval(() => this.#catchUp(), STEP_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #catchUp(): void {
    const rounds = (performance.now() - this.#startedAtMs) / this.#intervalMs;
    const due = Math.floor(rounds * this.#count);
    this.#done = Math.max(this.#done, due - this.#count);
    for (; this.#done < due; this.#done++) this.#act(this.#done % this.#count);
  }
}
