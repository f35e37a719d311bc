/**
 * Assertions: a failed one is a bug in this program, never a client's mistake.
 *
 * Nobody catches InvariantError but the process's main function, which logs it and exits; in
 * simulation it prints the seed. Assertions stay on in production.
 */

/** A bug in this program: something that must always hold did not. Never caught, never retried. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** States what must hold here. Throws {@link InvariantError} when it does not. */
export function assert(condition: boolean, whatMustHold: string): asserts condition {
  if (!condition) throw new InvariantError(whatMustHold);
}

/** The value, which must be there. For look-ups that an invariant says cannot miss. */
export function defined<T>(value: T | undefined, whatMustExist: string): T {
  if (value === undefined) throw new InvariantError(whatMustExist);
  return value;
}

/** Marks a place that exhaustive switches never reach; the compiler checks that, too. */
export function unreachable(value: never): never {
  throw new InvariantError(`unexpected variant: ${JSON.stringify(value)}`);
}
