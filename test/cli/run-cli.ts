// Runs the program in the test's own process and keeps what it wrote.
import type { CommandModule } from "../../src/cli/context.ts";
import { runCli } from "../../src/cli/program.ts";

export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(
  argv: readonly string[],
  commands: readonly CommandModule[],
  world: { env?: Record<string, string>; columns?: number; cwd?: string } = {},
): Promise<CliRun> {
  const out = { stdout: "", stderr: "" };
  const sinkFor = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      out[name] += text;
    },
    columns: world.columns,
  });
  const exitCode = await runCli(argv, {
    stdout: sinkFor("stdout"),
    stderr: sinkFor("stderr"),
    env: world.env ?? {},
    cwd: world.cwd ?? "/",
    commands,
  });
  return { exitCode, ...out };
}
