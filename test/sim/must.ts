/**
 * How checkers complain: with the number of the property (research, section 7) that was broken.
 */

/** A property that does not hold. */
export class BrokenProperty extends Error {
  override readonly name = "BrokenProperty";
  readonly property: number;

  constructor(property: number, what: string) {
    super(`property ${property}: ${what}`);
    this.property = property;
  }
}

export function must(condition: boolean, property: number, what: string): asserts condition {
  if (!condition) throw new BrokenProperty(property, what);
}
