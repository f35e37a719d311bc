/**
 * Seeded pseudo-random numbers (sfc32, by Chris Doty-Humphrey): the only randomness of the pure
 * cores and of the simulator. Same seed, same sequence. Not for secrets.
 */

/** Four 32-bit words: small enough to copy with a cloned core. */
export type PrngState = [number, number, number, number];

export class Prng {
  #state: PrngState;

  constructor(state: PrngState) {
    this.#state = [...state];
  }

  static fromSeed(seed: number): Prng {
    const low = seed >>> 0;
    const high = Math.floor(seed / 2 ** 32) >>> 0;
    const prng = new Prng([low, high, 0x9e3779b9, 1]);
    for (let i = 0; i < 15; i++) prng.nextUint32();
    return prng;
  }

  /** Uniform in [0, 2^32). */
  nextUint32(): number {
    const [a, b, c, counter] = this.#state;
    const result = (((a + b) | 0) + counter) | 0;
    this.#state = [
      b ^ (b >>> 9),
      (c + (c << 3)) | 0,
      (((c << 21) | (c >>> 11) | 0) + result) | 0,
      (counter + 1) | 0,
    ];
    return result >>> 0;
  }

  /** Uniform in [0, 1). */
  nextFraction(): number {
    return this.nextUint32() / 2 ** 32;
  }

  /** Uniform integer in [low, high], both included. */
  nextInteger(low: number, high: number): number {
    return low + Math.floor(this.nextFraction() * (high - low + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.nextFraction() < probability;
  }

  /** One element; the list must not be empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.nextInteger(0, items.length - 1)] as T;
  }

  /** A copy that continues from here on its own. */
  clone(): Prng {
    return new Prng(this.#state);
  }

  get state(): PrngState {
    return [...this.#state];
  }
}
