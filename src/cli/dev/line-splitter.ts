// Cuts a stream of text into lines, so that the lines of several servers never mix. A line that
// does not end is handed on in pieces rather than kept without bound.

const LINE_LENGTH_MAX = 64 * 1024;

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line.replace(/\r$/, ""));
    if (this.#rest.length > LINE_LENGTH_MAX) this.end();
  }

  /** Hands on what came after the last line break. */
  end(): void {
    if (this.#rest !== "") this.#onLine(this.#rest);
    this.#rest = "";
  }
}
