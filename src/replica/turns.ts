/**
 * One at a time, in the order of asking: the groups of a server share a disk and a thread, and two
 * checkpoints at once would only make both of them, and the log, slower.
 */

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /**
   * Resolves when it is the caller's turn, with what gives it back; undefined when the signal came
   * first. To be given back exactly once.
   */
  take(signal: AbortSignal): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      const start = (): void => {
        signal.removeEventListener("abort", giveUp);
        this.#isTaken = true;
        resolve(() => this.#next());
      };
      const giveUp = (): void => {
        const at = this.#waiting.indexOf(start);
        if (at >= 0) this.#waiting.splice(at, 1);
        resolve(undefined);
      };
      if (signal.aborted) resolve(undefined);
      else if (this.#isTaken) {
        this.#waiting.push(start);
        signal.addEventListener("abort", giveUp, { once: true });
      } else start();
    });
  }

  #next(): void {
    this.#isTaken = false;
    this.#waiting.shift()?.();
  }
}
