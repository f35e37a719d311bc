// `--help` of every verb ends with examples that are whole, valid command lines.
import type { Command } from "commander";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { createProgram } from "../../src/cli/program.ts";
import { run } from "./run-cli.ts";

const sink = { write: (): void => undefined, columns: undefined };
const world = { stdout: sink, stderr: sink, env: {}, cwd: "/", commands: COMMANDS };

function program(): Command {
  const options = { output: "table", endpoints: undefined, timeoutMs: 1, color: false } as const;
  const print = { print: () => undefined, note: () => undefined, setExitCode: () => undefined };
  return createProgram({ ...world, ...print, options }, world);
}

function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  const own = command.commands.filter((one) => one.name() !== "help");
  return [[...path], ...own.flatMap((one) => pathsOf(one, [...path, one.name()]))];
}

async function examplesOf(path: readonly string[]): Promise<string[]> {
  const { stdout } = await run([...path, "--help"], COMMANDS, { columns: 200 });
  const [, examples = ""] = stdout.split("Examples:\n");
  return examples
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.trim().split(/ {2,}/)[0] ?? "");
}

/** Parses without running: the verb is found, and it would take its options and arguments. */
function problemOf(example: string): string | undefined {
  const [npx, name, ...words] = example.split(" ");
  if (npx !== "npx" || name !== "cadastre") return "is not for npx";
  let problem: string | undefined = "names no verb";
  const stub = (command: Command): void => {
    command.exitOverride().configureOutput({ outputError: () => undefined });
    if (command.commands.length === 0 || command.name() === "dev") {
      command.action(() => {
        problem = undefined;
      });
    }
    command.commands.forEach(stub);
  };
  const parsed = program();
  stub(parsed);
  try {
    parsed.parse(words, { from: "user" });
  } catch (error) {
    return String(error);
  }
  return problem;
}

test.each(pathsOf(program()).map((path) => ({ verb: path.join(" ") || "cadastre", path })))(
  "the examples of `$verb` can be typed as they stand",
  async ({ path }) => {
    const examples = await examplesOf(path);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect([example, problemOf(example)]).toEqual([example, undefined]);
      expect(example).toContain(["npx cadastre", ...path].join(" "));
    }
  },
);
