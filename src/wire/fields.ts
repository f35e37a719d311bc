/**
 * Checks of received fields (law 33). A refusal names the field; the first one found is kept and
 * nothing is thrown, so that a conversion reads its fields in a row and looks at `error` once.
 */

import type { Bytes } from "../base/bytes.ts";
import { EMPTY_BYTES } from "../base/bytes.ts";

/** A received message that breaks a bound. Nothing was done with any part of it. */
export interface InvalidArgument {
  readonly kind: "invalidArgument";
  /** Path in the message, as the program spells it: "appendEntries.entries[3].term". */
  readonly field: string;
  readonly problem: string;
}

export class Fields {
  #error: InvalidArgument | undefined;

  /** The first refusal, if any. */
  get error(): InvalidArgument | undefined {
    return this.#error;
  }

  refuse(field: string, problem: string): void {
    this.#error ??= { kind: "invalidArgument", field, problem };
  }

  /** A 64-bit field in decimal, as a safe integer >= least. 0 when it was refused. */
  integer(text: string, field: string, least = 0): number {
    const value = Number(text);
    if (!Number.isSafeInteger(value) || String(value) !== text) {
      this.refuse(field, "is not an integer below 2^53");
      return 0;
    }
    if (value < least) {
      this.refuse(field, `is below ${least}`);
      return 0;
    }
    return value;
  }

  /** A bytes field of at most bytesMax. Empty when it was refused. */
  bytes(value: Bytes, field: string, bytesMax: number): Bytes {
    if (value.length <= bytesMax) return value;
    this.refuse(field, `has ${value.length} bytes, at most ${bytesMax} are allowed`);
    return EMPTY_BYTES;
  }
}

/** "field: problem", for statuses and logs. */
export function invalidArgumentText(error: InvalidArgument): string {
  return `${error.field}: ${error.problem}`;
}
