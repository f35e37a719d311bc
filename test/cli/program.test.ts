// The program around the verbs: options, output, mistakes and failures.
import { expect, test } from "vitest";
import { InvariantError } from "../../src/base/assert.ts";
import { COMMANDS } from "../../src/cli/command-table.ts";
import type { CliContext, CommandModule } from "../../src/cli/context.ts";
import { CliError } from "../../src/cli/failure.ts";
import { addExamples } from "../../src/cli/help.ts";
import { createProgram } from "../../src/cli/program.ts";
import { EXIT } from "../../src/wire/errors.ts";
import { run } from "./run-cli.ts";

/** `cadastre probe [thing]`, whose action is the test's. */
function probe(action: (context: CliContext) => unknown): CommandModule {
  return {
    register(program, context) {
      const command = program
        .command("probe")
        .description("A verb for tests.")
        .argument("[thing]")
        .option("--limit <n>", "how many")
        .action(async () => {
          await action(context);
        });
      addExamples(command, [{ run: "cadastre probe", does: "just that" }]);
    },
  };
}

function failing(error: unknown): readonly CommandModule[] {
  return [
    probe(() => {
      throw error;
    }),
  ];
}

const ANSWER = { json: () => ({ revision: 2n ** 60n, none: null }), text: () => "one line" };
const printing = [probe((context) => context.print(ANSWER))];

test("an answer is printed as text, and with -o json as JSON with 64-bit numbers as strings", async () => {
  expect(await run(["probe"], printing)).toEqual({ exitCode: 0, stdout: "one line\n", stderr: "" });
  const json = '{"revision":"1152921504606846976","none":null}\n';
  expect((await run(["probe", "-o", "json"], printing)).stdout).toBe(json);
  expect((await run(["--output=json", "probe"], printing)).stdout).toBe(json);
});

test("global options may stand before and after the verb", async () => {
  let seen: unknown;
  const commands = [
    probe((context) => {
      seen = context.options;
    }),
  ];
  await run(
    ["--endpoints", "a:1, b:2", "probe", "x", "--timeout", "1.5s", "--limit", "3"],
    commands,
  );
  expect(seen).toEqual({
    output: "table",
    endpoints: ["a:1", "b:2"],
    timeoutMs: 1_500,
    color: false,
  });
});

test("notes for people keep out of the way of -o json", async () => {
  const commands = [probe((context) => context.note("still waiting"))];
  expect((await run(["probe"], commands)).stderr).toBe("still waiting\n");
  expect((await run(["probe", "-o", "json"], commands)).stderr).toBe("");
});

test("a verb may answer and still ask for an exit code", async () => {
  const commands = [probe((context) => context.setExitCode(EXIT.unhealthy))];
  expect((await run(["probe"], commands)).exitCode).toBe(7);
});

test.each([
  [["prbe"], "cadastre: unknown command 'prbe'. Did you mean probe?\n"],
  [["zzz"], "cadastre: unknown command 'zzz'. `cadastre --help` shows what it takes.\n"],
  [["probe", "--limt", "1"], "cadastre: unknown option '--limt'. Did you mean --limit?\n"],
  [
    ["probe", "a", "b"],
    "cadastre: too many arguments for 'probe'. Expected 1 argument but got 2." +
      " `cadastre probe --help` shows what it takes.\n",
  ],
  [
    ["probe", "--timeout", "soon"],
    "cadastre: option '--timeout <duration>' argument 'soon' is invalid. Give a duration above" +
      " zero, for example 500ms, 5s or 2m. `cadastre probe --help` shows what it takes.\n",
  ],
])("%j is a mistake: one line, exit 2", async (argv, stderr) => {
  expect(await run(argv, printing)).toEqual({ exitCode: 2, stdout: "", stderr });
});

test("with -o json a mistake is an object on stderr, too", async () => {
  const { exitCode, stdout, stderr } = await run(["probe", "--limt", "-o", "json"], printing);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      exit: 2,
      reason: "INVALID",
      message: "unknown option '--limt'",
      remedy: "Did you mean --limit?",
    },
  });
});

test("a failure of a verb is one line with cause and remedy", async () => {
  const error = new CliError({
    message: "no cluster\nis running",
    remedy: "start one",
    exit: EXIT.unavailable,
  });
  const { exitCode, stderr } = await run(["probe"], failing(error));
  expect([exitCode, stderr]).toEqual([5, "cadastre: no cluster; is running. Start one.\n"]);
});

test("a refusal of the directory keeps its reason and gets the exit code of the table", async () => {
  const refused = (reason: string, extra: object = {}): readonly CommandModule[] =>
    failing(Object.assign(new Error("the epoch is older"), { refusal: { reason }, ...extra }));
  expect((await run(["probe"], refused("NOT_FOUND"))).exitCode).toBe(EXIT.notFound);
  expect((await run(["probe"], refused("STALE_EPOCH"))).exitCode).toBe(EXIT.conflict);
  const unknown = await run(["probe", "-o", "json"], refused("TRANSIENT", { outcome: "unknown" }));
  expect(unknown.exitCode).toBe(EXIT.unavailable);
  expect(JSON.parse(unknown.stderr)).toMatchObject({
    error: { reason: "TRANSIENT", outcome: "unknown", message: "the epoch is older" },
  });
  expect((await run(["probe"], refused("UNCERTAIN"))).stderr).toContain(
    "(it may have been applied)",
  );
});

test("a bug exits with 70 and shows its trace only when asked", async () => {
  const bug = failing(new InvariantError("ranges tile"));
  const { exitCode, stderr } = await run(["probe"], bug);
  expect(exitCode).toBe(70);
  expect(stderr.split("\n")).toHaveLength(2);
  expect(stderr).toContain("InvariantError: ranges tile");
  const traced = await run(["probe"], bug, { env: { CADASTRE_DEBUG: "1" } });
  expect(traced.stderr).toContain("    at ");
});

test("colour is for terminals, unless it is declined", async () => {
  const bug = failing(new CliError({ message: "x" }));
  const red = "\u001b[31m";
  expect((await run(["probe"], bug, { columns: 80 })).stderr).toContain(red);
  expect((await run(["probe"], bug)).stderr).not.toContain(red);
  expect((await run(["probe", "--no-color"], bug, { columns: 80 })).stderr).not.toContain(red);
  const env = { NO_COLOR: "1" };
  expect((await run(["probe"], bug, { columns: 80, env })).stderr).not.toContain(red);
});

test("help goes to stdout with exit 0; without a verb it is a mistake", async () => {
  const help = await run(["probe", "--help"], printing);
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout).toContain("--endpoints <list>");
  expect(help.stdout).toContain("Examples:\n  cadastre probe  just that\n");
  const bare = await run([], printing);
  expect(bare).toMatchObject({ exitCode: 2, stdout: "" });
  expect(bare.stderr).toContain("Usage: cadastre");
});

test("every verb, at every depth, has a description and help that ends with examples", async () => {
  let context: CliContext | undefined;
  await run(["probe"], [probe((given) => (context = given))]);
  if (context === undefined) throw new Error("the probe did not run");
  const sinks = { stdout: context.stdout, stderr: context.stderr, env: {}, cwd: "/" };
  const program = createProgram(context, { ...sinks, commands: COMMANDS });
  const paths: string[][] = [];
  const walk = (command: typeof program, path: readonly string[]): void => {
    for (const one of command.commands) {
      expect([...path, one.name(), one.description() !== ""]).toEqual([...path, one.name(), true]);
      paths.push([...path, one.name()]);
      walk(one, [...path, one.name()]);
    }
  };
  walk(program, []);
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) {
    const { exitCode, stdout } = await run([...path, "--help"], COMMANDS);
    expect([path, exitCode]).toEqual([path, 0]);
    const hasVerbs = stdout.includes("\nCommands:\n");
    expect([path, hasVerbs || stdout.includes("\nExamples:\n")]).toEqual([path, true]);
  }
});
