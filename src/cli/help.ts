// How help looks, for every verb alike: bold titles on a terminal, examples at the end. The
// examples are run by a test of the documentation, so each is a whole command line.
import { styleText } from "node:util";
import type { Command, HelpConfiguration } from "commander";

/** A command line, and in a few words what it is for. */
export interface Example {
  readonly run: string;
  readonly does: string;
}

/** Adds the examples that `--help` of this verb ends with. Each verb has at least one. */
export function addExamples(command: Command, examples: readonly Example[]): void {
  command.addHelpText("after", examplesText(examples));
}

/** Exported for its test. */
export function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ run }) => run.length));
  const lines = examples.map(({ run, does }) => `  ${run.padEnd(width)}  ${does}`);
  return `\nExamples:\n${lines.join("\n")}`;
}

export const HELP_STYLE: HelpConfiguration = {
  showGlobalOptions: true,
  styleTitle: (title: string) => styleText("bold", title, { validateStream: false }),
};

/** The verb that a command line names, as far as it names one: for "`cadastre X --help`". */
export function commandPath(program: Command, argv: readonly string[]): string {
  const path = [program.name()];
  let command = program;
  for (const argument of argv) {
    const next = command.commands.find(
      (one) => one.name() === argument || one.aliases().includes(argument),
    );
    if (next === undefined) continue;
    path.push(next.name());
    command = next;
  }
  return path.join(" ");
}
