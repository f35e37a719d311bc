/**
 * Texts as numbered lines, whole or in chunks.
 *
 * Chunks may be cut anywhere (as a file is read), also between the two characters of a line end.
 * A byte order mark at the start is dropped, a carriage return at the end of a line as well.
 */

/** A text, or its pieces in order; the pieces need not end at line ends. */
export type TextInput = string | Iterable<string>;

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Whether a line end follows; false for a last line that may have been cut. */
  readonly isEnded: boolean;
}

export function* linesOf(input: TextInput): Generator<Line> {
  let rest = "";
  let number = 0;
  for (const chunk of typeof input === "string" ? [input] : input) {
    const text = rest === "" ? chunk : rest + chunk;
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      number++;
      yield { number, text: cleanLine(text.slice(from, end), number), isEnded: true };
      from = end + 1;
    }
    rest = from === 0 ? text : text.slice(from);
  }
  if (rest === "") return;
  number++;
  yield { number, text: cleanLine(rest, number), isEnded: false };
}

/** For formats that cannot be read line by line. */
export function wholeText(input: TextInput): string {
  const text = typeof input === "string" ? input : [...input].join("");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

function cleanLine(text: string, number: number): string {
  const from = number === 1 && text.startsWith("\ufeff") ? 1 : 0;
  return text.slice(from, text.endsWith("\r") ? -1 : undefined);
}
