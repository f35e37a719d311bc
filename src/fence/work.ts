/**
 * What was admitted and has not ended yet, counted by hold. A hand-over waits for it (law 12).
 */

export class WorkInHand {
  readonly #counts = new Map<number, number>();
  readonly #idle = new Map<number, () => void>();

  /** One more request under this hold; the answer ends it, once. */
  begin(holdNumber: number): () => void {
    this.#counts.set(holdNumber, this.count(holdNumber) + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#end(holdNumber);
    };
  }

  count(holdNumber: number): number {
    return this.#counts.get(holdNumber) ?? 0;
  }

  /** Calls back once, when nothing is under way under this hold any more. */
  whenIdle(holdNumber: number, run: () => void): void {
    if (this.count(holdNumber) === 0) run();
    else this.#idle.set(holdNumber, run);
  }

  #end(holdNumber: number): void {
    const left = this.count(holdNumber) - 1;
    if (left > 0) {
      this.#counts.set(holdNumber, left);
      return;
    }
    this.#counts.delete(holdNumber);
    const run = this.#idle.get(holdNumber);
    this.#idle.delete(holdNumber);
    run?.();
  }
}
