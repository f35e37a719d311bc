/**
 * What things that change in place were when a cut was opened. Whoever changes one tells before;
 * each open cut keeps the picture of the first telling, so that keeping costs what changes and not
 * what there is.
 */

export class PreImages<Thing, Picture> {
  readonly #pictureOf: (thing: Thing) => Picture;
  readonly #open = new Set<Map<Thing, Picture>>();

  constructor(pictureOf: (thing: Thing) => Picture) {
    this.#pictureOf = pictureOf;
  }

  /** From now on, until it is closed, the map gets what a thing was before its first change. */
  open(): Map<Thing, Picture> {
    const kept = new Map<Thing, Picture>();
    this.#open.add(kept);
    return kept;
  }

  close(kept: Map<Thing, Picture>): void {
    this.#open.delete(kept);
  }

  /** The thing is about to change. */
  keep(thing: Thing): void {
    if (this.#open.size === 0) return;
    for (const kept of this.#open) {
      if (!kept.has(thing)) kept.set(thing, this.#pictureOf(thing));
    }
  }
}
