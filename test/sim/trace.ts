/**
 * What a run did: a hash over every event, the last of them in words, and counts.
 *
 * Words are made only when somebody reads them: in a verbose run, or after a failure.
 */

import { type Coverage, type Covered, newCoverage } from "./coverage.ts";

const LINES_KEPT = 400;

interface Line {
  readonly atMs: number;
  readonly words: () => string;
}

export class Trace {
  readonly coverage: Coverage = newCoverage();
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;
  #count = 0;
  readonly #last: Line[] = [];
  readonly #nowMs: () => number;
  readonly #print: ((line: string) => void) | undefined;

  constructor(nowMs: () => number, print?: (line: string) => void) {
    this.#nowMs = nowMs;
    this.#print = print;
  }

  /** Of everything so far. */
  get hash(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }

  count(what: Covered): void {
    this.coverage[what]++;
  }

  /** One event: its numbers go into the hash, its words into the log. */
  note(numbers: readonly number[], words: () => string): void {
    const atMs = this.#nowMs();
    this.#mix(Math.floor(atMs * 1_000));
    for (const number of numbers) this.#mix(number);
    if (this.#print === undefined) this.#last[this.#count++ % LINES_KEPT] = { atMs, words };
    else this.#print(lineOf({ atMs, words }));
  }

  /** One event that is told in words only. */
  say(text: string): void {
    let sum = 0;
    for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
    this.note([sum, text.length], () => text);
  }

  /** Oldest first, one a line. */
  lastLines(): string {
    const lines: string[] = [];
    for (let at = Math.max(0, this.#count - LINES_KEPT); at < this.#count; at++) {
      const line = this.#last[at % LINES_KEPT];
      if (line !== undefined) lines.push(lineOf(line));
    }
    return lines.join("\n");
  }

  #mix(value: number): void {
    const low = value | 0;
    const high = Math.floor(value / 2 ** 32) | 0;
    this.#low = Math.imul(this.#low ^ low, 0x01000193);
    this.#high = Math.imul(this.#high ^ high ^ (this.#low >>> 13), 0x85ebca6b);
    this.#low ^= this.#high >>> 15;
  }
}

function lineOf({ atMs, words }: Line): string {
  return `${atMs.toFixed(3)} ${words()}`;
}
