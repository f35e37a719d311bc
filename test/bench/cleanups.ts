/**
 * What has to be undone at the end, whatever the end is: processes that were started, folders that
 * were made. Everything is entered here the moment it exists, and undone last first.
 */

type Undo = () => Promise<void> | void;

export class Cleanups {
  readonly #undos: Undo[] = [];
  #running: Promise<void> | undefined;

  /** Answers how to undo it earlier; each is undone once. */
  add(undo: Undo): () => Promise<void> {
    this.#undos.push(undo);
    return async () => {
      const at = this.#undos.indexOf(undo);
      if (at === -1) return;
      this.#undos.splice(at, 1);
      await undo();
    };
  }

  /** Undoes everything, all of it even when one of them fails. May be called more than once. */
  run(): Promise<void> {
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #runAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      try {
        await undo();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "not everything could be undone");
  }
}
