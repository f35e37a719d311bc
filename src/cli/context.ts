// What every verb is given: where to write, the global options, and the shape of a command
// module. A module registers its verbs on the program and reads the context inside its actions;
// the options are there once the command line has been parsed.
import type { Command } from "commander";

/** One file of src/cli/commands: `export const statusCommand: CommandModule = {...}`. */
export interface CommandModule {
  /** Adds its verbs. Must do no work and load nothing heavy: it runs for every command line. */
  register(program: Command, context: CliContext): void;
}

/** The options that every verb has. */
export interface GlobalOptions {
  readonly output: "table" | "json";
  /** Of --endpoints alone, split at commas. Use local-cluster.ts to find the servers. */
  readonly endpoints: readonly string[] | undefined;
  /** How long a verb waits for the directory. */
  readonly timeoutMs: number;
  readonly color: boolean;
}

/** Where text goes. `columns` is undefined when it is not a terminal. */
export interface TextSink {
  write(text: string): void;
  readonly columns: number | undefined;
}

export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** One answer in both forms; only the one that is wanted is made. */
export interface Answer {
  /** Stable for scripts: 64-bit numbers as strings (a bigint becomes one), keys utf8 and hex. */
  json(): JsonValue;
  /** Lines for people, without the last line break. */
  text(): string;
}

export interface CliContext {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Valid inside actions only. */
  readonly options: GlobalOptions;
  /** Prints the answer of a verb to stdout, as `-o` asks. */
  print(answer: Answer): void;
  /** One line for people on stderr; nothing with `-o json`, so that scripts see errors alone. */
  note(line: string): void;
  /** For verbs that answer and still fail (a check that found something): printed, then exit. */
  setExitCode(exit: number): void;
}

/** JSON with bigints as strings; the form of every `-o json` document. */
export function toJsonText(value: JsonValue, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part),
    indent,
  );
}
