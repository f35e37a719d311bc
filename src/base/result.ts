/**
 * A value or a refusal, for functions whose failures are ordinary answers.
 * Bugs are thrown (assert.ts), failures of the world are errors with a code.
 */

export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function failed<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}
