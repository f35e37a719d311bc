// Plain tables for people: titles, then rows, columns two spaces apart, no lines drawn, and no
// line that ends in spaces. Text is measured in terminal cells: a key may hold wide or combining
// characters.
import { stripVTControlCharacters, styleText } from "node:util";

export interface Column {
  readonly title: string;
  /** Numbers go to the right. */
  readonly align?: "left" | "right";
}

const GAP = "  ";
const ZERO_WIDTH = /^(?:\p{M}|\p{Cf})$/u;
const WIDE_SCRIPT = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]$/u;
const WIDE_SYMBOL = /^[\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]$/u;

/** A table that may come in several pieces: columns only grow, and the titles are printed once. */
export class Table {
  readonly #columns: readonly Column[];
  readonly #color: boolean;
  readonly #widths: number[];
  #hasTitles = false;

  constructor(columns: readonly Column[], options: { readonly color: boolean }) {
    this.#columns = columns;
    this.#color = options.color;
    this.#widths = columns.map((column) => textWidth(column.title));
  }

  /** The next rows as lines. Each row has one cell for each column. */
  lines(rows: readonly (readonly string[])[]): string[] {
    for (const row of rows) {
      for (const [at, cell] of row.entries()) {
        this.#widths[at] = Math.max(this.#widths[at] ?? 0, textWidth(cell));
      }
    }
    const lines = rows.map((row) => this.#line(row));
    if (this.#hasTitles) return lines;
    this.#hasTitles = true;
    const titles = this.#line(this.#columns.map((column) => column.title));
    const head = this.#color ? styleText("bold", titles, { validateStream: false }) : titles;
    return [head, ...lines];
  }

  #line(cells: readonly string[]): string {
    const aligned = this.#columns.map((column, at) => {
      const cell = cells[at] ?? "";
      const padding = " ".repeat(Math.max(0, (this.#widths[at] ?? 0) - textWidth(cell)));
      return column.align === "right" ? padding + cell : cell + padding;
    });
    return aligned.join(GAP).trimEnd();
  }
}

export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { readonly color: boolean },
): string[] {
  return new Table(columns, options).lines(rows);
}

/** `name  value` lines, the values below each other. */
export function fieldLines(fields: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...fields.map(([name]) => textWidth(name)));
  return fields.map(([name, value]) => {
    const padding = " ".repeat(width - textWidth(name));
    return `${name}${padding}${GAP}${value}`.trimEnd();
  });
}

/** How many cells of a terminal the text takes. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (ZERO_WIDTH.test(character)) continue;
    width += WIDE_SCRIPT.test(character) || WIDE_SYMBOL.test(character) ? 2 : 1;
  }
  return width;
}

/** "1 range", "2 ranges", "1,000 ranges". */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}

/** 1234567 as "1,234,567", in every locale. */
export function groupDigits(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
