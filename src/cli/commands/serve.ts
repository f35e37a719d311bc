// `cadastre serve`: one server in this process, configured by flags, environment and a file. The
// flags come from the table of settings; the server itself is loaded only when it is started.
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { SETTINGS } from "../../server/config/settings.ts";
import type { LoadedConfig } from "../../server/config/load.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { CliError, usageError } from "../failure.ts";
import { addExamples } from "../help.ts";

export const serveCommand: CommandModule = {
  register(program: Command, context: CliContext): void {
    const command = program
      .command("serve")
      .description("Run one server in this process, until SIGTERM or Ctrl-C.")
      .option("--config <file>", "YAML file with the configuration (else CADASTRE_CONFIG)");
    for (const { flag, help, variable } of SETTINGS) {
      if (flag !== undefined) command.option(`--${flag} <value>`, `${help} (else ${variable})`);
    }
    addExamples(command, [
      { run: "npx cadastre serve --config server-1.yaml", does: "everything from a file" },
      {
        run: "npx cadastre serve --config server-1.yaml --log pretty",
        does: "short log lines for people",
      },
    ]);
    command.action(async (options: ServeOptions) => {
      const { runServeProcess } = await import("../serve-process.ts");
      const loaded = await loadServeConfig(options, context);
      const { startServer } = await import("../../server/process.ts");
      await runServeProcess({ context, loaded, startServer });
    });
  },
};

type ServeOptions = Readonly<Record<string, string | undefined>>;

async function loadServeConfig(options: ServeOptions, context: CliContext): Promise<LoadedConfig> {
  const { loadConfig } = await import("../../server/config/load.ts");
  const fileName = options["config"] ?? context.env["CADASTRE_CONFIG"];
  const file = fileName === undefined ? undefined : await readConfig(fileName);
  const flags: Record<string, string | undefined> = {};
  for (const { flag } of SETTINGS) {
    if (flag !== undefined) flags[flag] = options[camelCase(flag)];
  }
  const loaded = loadConfig({ ...(file === undefined ? {} : { file }), env: context.env, flags });
  if (loaded.ok) return loaded.value;
  const where = file === undefined ? "configuration" : file.name;
  throw usageError(`${where}: ${loaded.error.join("; ")}`);
}

async function readConfig(name: string): Promise<{ name: string; text: string }> {
  try {
    return { name, text: await readFile(name, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new CliError({
      message: `cannot read the configuration file ${name} (${code})`,
      remedy: "check the path in --config",
      exit: 2,
      cause: error,
    });
  }
}

/** As commander names the values of options. */
function camelCase(flag: string): string {
  return flag.replaceAll(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
}
