/**
 * The commands of the README's tour, with what it shows of their output.
 *
 * A block "console tour" holds commands to run one after the other, "console tour-background" ones
 * that go on in terminals of their own. Lines after a command are its output; "..." stands for any
 * number of lines. Numbers differ from run to run and spaces from table to table, so neither
 * counts, but the number in a name does ("node-2"); a shown line may stop early.
 */

export interface TourCommand {
  /** Without "npx cadastre". */
  readonly words: readonly string[];
  readonly isBackground: boolean;
  readonly shown: readonly string[];
}

const BLOCK = /^```console (tour|tour-background)\n([\s\S]*?)^```$/gm;
const PROMPT = "$ npx cadastre ";

export function tourCommands(readme: string): TourCommand[] {
  const commands: TourCommand[] = [];
  for (const [, kind, body] of readme.matchAll(BLOCK)) {
    let shown: string[] = [];
    for (const line of (body ?? "").trimEnd().split("\n")) {
      if (line.startsWith("$ ")) {
        if (!line.startsWith(PROMPT)) throw new Error(`the tour cannot run: ${line}`);
        shown = [];
        const words = line.slice(PROMPT.length).split(" ");
        commands.push({ words, isBackground: kind === "tour-background", shown });
      } else {
        shown.push(line);
      }
    }
  }
  return commands;
}

/** The first shown line that the output does not have where it should; undefined: all is there. */
export function missingLine(shown: readonly string[], output: string): string | undefined {
  const lines = output.split("\n").map(normalise);
  let at = 0;
  let mayskip = false;
  for (const line of shown) {
    if (line.trim() === "...") {
      mayskip = true;
      continue;
    }
    const wanted = normalise(line);
    const found = mayskip
      ? lines.findIndex((candidate, index) => index >= at && candidate.startsWith(wanted))
      : lines[at]?.startsWith(wanted) === true
        ? at
        : -1;
    if (found < 0) return line;
    at = found + 1;
    mayskip = false;
  }
  return undefined;
}

function normalise(line: string): string {
  return line
    .replaceAll(/(?<!\d|[a-z]-)\d+(?:\.\d+)?/g, "#")
    .replaceAll(/\s+/g, " ")
    .trim();
}
