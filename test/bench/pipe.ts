/**
 * One connection over which the load generator makes unary calls of one method, many at once.
 */

export interface Pipe {
  /** Calls `done` once, with an error or the answer's bytes. */
  readonly call: (request: Buffer, done: Done) => void;
  readonly close: () => void;
}

export type Done = (error: Error | undefined, answer: Buffer) => void;
