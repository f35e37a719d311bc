// The entry point that the binary loads: it lends the process's streams to the program and
// answers the exit code. A reader that goes away (`cadastre ... | head`) is no failure.
import { COMMANDS } from "./command-table.ts";
import type { TextSink } from "./context.ts";
import { runCli } from "./program.ts";

/** Runs one command line, without `node` and the script, and answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  return runCli(argv, {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    commands: COMMANDS,
  });
}

function sinkOf(stream: NodeJS.WriteStream): TextSink {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    throw error;
  });
  return {
    write: (text) => {
      stream.write(text);
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
}
