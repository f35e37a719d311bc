// The command line program: global options, the verbs of the command table, and what happens to
// everything that goes wrong. It knows no process, so that tests run it whole.
import { styleText } from "node:util";
import { Command, CommanderError, Option } from "commander";
import { EXIT } from "../wire/errors.ts";
import { parseDurationMs, parseEndpoints } from "./arguments.ts";
import {
  toJsonText,
  type Answer,
  type CliContext,
  type CommandModule,
  type GlobalOptions,
  type TextSink,
} from "./context.ts";
import { failureJson, failureLine, failureOf, usageError, type Failure } from "./failure.ts";
import { addExamples, commandPath, HELP_STYLE } from "./help.ts";

/** What a run of the program is given of the world. */
export interface CliWorld {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly commands: readonly CommandModule[];
}

const DEFAULT_TIMEOUT = "5s";

/** Runs one command line (without `node` and the script) and answers the exit code. */
export async function runCli(argv: readonly string[], world: CliWorld): Promise<number> {
  const run = new Run(world, argv);
  const program = createProgram(run, world);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return run.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && !isMistake(error)) return exitOfHelp(error);
    const failure = failureOf(
      error instanceof CommanderError ? mistakeOf(error, program, argv) : error,
    );
    report(failure, error, run);
    return failure.exit;
  }
}

/** Exported so that completions and documentation tests can walk the verbs. */
export function createProgram(context: CliContext, world: CliWorld): Command {
  const program = new Command("cadastre")
    .description("A replicated directory of who owns which key range.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: (text) => world.stderr.write(text),
      // Mistakes are printed once, in our own form.
      outputError: () => undefined,
      getOutHasColors: () => colorOf(world, true),
      getErrHasColors: () => colorOf(world, true),
      ...(world.stdout.columns === undefined ? {} : { getOutHelpWidth: () => columnsOf(world) }),
    })
    .configureHelp(HELP_STYLE)
    .addOption(
      new Option("-o, --output <format>", "how to print answers")
        .choices(["table", "json"])
        .default("table"),
    )
    .addOption(
      new Option(
        "--endpoints <list>",
        "servers to talk to, host:port,... (else CADASTRE_ENDPOINTS, else the local cluster)",
      ).argParser(parseEndpoints),
    )
    .addOption(
      new Option("--timeout <duration>", "how long to wait for an answer, like 500ms or 5s")
        .argParser(parseDurationMs)
        .default(parseDurationMs(DEFAULT_TIMEOUT), DEFAULT_TIMEOUT),
    )
    .option("--no-color", "plain text (also with NO_COLOR, and when the output is no terminal)");
  addExamples(program, [
    { run: "npx cadastre dev", does: "start three servers on this machine" },
    { run: "npx cadastre status", does: "show who leads and whether all is well" },
    { run: "npx cadastre keyspace create demo", does: "make a keyspace" },
  ]);
  for (const command of world.commands) command.register(program, context);
  program.hook("preAction", () => {
    if (context instanceof Run) context.begin(program.opts());
  });
  return program;
}

interface RawOptions {
  readonly output?: "table" | "json";
  readonly endpoints?: readonly string[];
  readonly timeout?: number;
  readonly color?: boolean;
}

/** The context of one run. */
class Run implements CliContext {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly #world: CliWorld;
  #options: GlobalOptions;
  #exitCode = 0;

  constructor(world: CliWorld, argv: readonly string[]) {
    this.#world = world;
    this.stdout = world.stdout;
    this.stderr = world.stderr;
    this.env = world.env;
    this.cwd = world.cwd;
    // Good enough for a mistake that keeps the command line from being parsed.
    this.#options = {
      output: asksForJson(argv) ? "json" : "table",
      endpoints: undefined,
      timeoutMs: parseDurationMs(DEFAULT_TIMEOUT),
      color: colorOf(world, !argv.includes("--no-color")),
    };
  }

  get options(): GlobalOptions {
    return this.#options;
  }

  get exitCode(): number {
    return this.#exitCode;
  }

  begin(raw: RawOptions): void {
    this.#options = {
      output: raw.output ?? "table",
      endpoints: raw.endpoints,
      timeoutMs: raw.timeout ?? parseDurationMs(DEFAULT_TIMEOUT),
      color: colorOf(this.#world, raw.color !== false),
    };
  }

  print(answer: Answer): void {
    const text = this.#options.output === "json" ? toJsonText(answer.json()) : answer.text();
    this.stdout.write(`${text}\n`);
  }

  note(line: string): void {
    if (this.#options.output !== "json") this.stderr.write(`${line}\n`);
  }

  setExitCode(exit: number): void {
    this.#exitCode = exit;
  }
}

function report(failure: Failure, error: unknown, context: CliContext): void {
  const { output, color } = context.options;
  if (output === "json") {
    context.stderr.write(`${failureJson(failure)}\n`);
  } else {
    const line = failureLine(failure);
    context.stderr.write(`${color ? styleText("red", line, { validateStream: false }) : line}\n`);
  }
  const trace = context.env["CADASTRE_DEBUG"] ?? "";
  if (trace !== "" && error instanceof Error) context.stderr.write(`${error.stack ?? ""}\n`);
}

// ---- Commander's own findings.

/** Help and version end the parsing with an exception, too. */
function isMistake(error: CommanderError): boolean {
  return !["commander.help", "commander.helpDisplayed", "commander.version"].includes(error.code);
}

/** Help that nobody asked for, because the verb is missing, is a mistake in the command line. */
function exitOfHelp(error: CommanderError): number {
  return error.code === "commander.help" && error.exitCode !== 0 ? EXIT.usage : 0;
}

/** What somebody gave may be a whole file. */
const LONG_QUOTE = /'([^']{60})[^']{20,}'/g;

function mistakeOf(error: CommanderError, program: Command, argv: readonly string[]): unknown {
  const message = error.message.replace(/^error: /, "").replaceAll(LONG_QUOTE, "'$1...'");
  const [first = "", suggestion] = message.split("\n");
  const nearMiss = suggestion?.replace(/^\((.*)\)$/, "$1");
  const help = `\`${commandPath(program, argv)} --help\` shows what it takes`;
  return usageError(first, nearMiss ?? help);
}

function asksForJson(argv: readonly string[]): boolean {
  return argv.some((argument, index) => {
    if (["-ojson", "-o=json", "--output=json"].includes(argument)) return true;
    return argument === "json" && ["-o", "--output"].includes(argv[index - 1] ?? "");
  });
}

function colorOf(world: CliWorld, wanted: boolean): boolean {
  const noColor = world.env["NO_COLOR"] ?? "";
  return wanted && noColor === "" && world.stdout.columns !== undefined;
}

function columnsOf(world: CliWorld): number {
  return Math.min(world.stdout.columns ?? 80, 100);
}
