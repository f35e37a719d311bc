// `cadastre version`: of this client, of Node, and of the server that answers, if one does. That
// none does is an answer, too, and no failure.
import type { Command } from "commander";
import { productVersion } from "../../server/version.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { failureOf } from "../failure.ts";
import { addExamples } from "../help.ts";
import { withConnection, type VerbWorld } from "../verb-world.ts";

/** Nobody waits long to learn a version. */
const TIMEOUT_MS_MAX = 2_000;

export function versionCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      program.version(productVersion(), "--version", "print the version of this client");
      const command = program
        .command("version")
        .description("Show the versions of this client, of Node and of a server.")
        .action(async () => {
          const server = await serverVersion(world, context);
          const client = productVersion();
          const node = process.versions.node;
          context.print({
            json: () => ({ client, node, server: server.version ?? null, problem: server.problem }),
            text: () =>
              [
                `client  ${client}`,
                `node    ${node}`,
                `server  ${server.version ?? `unknown (${server.problem})`}`,
              ].join("\n"),
          });
        });
      addExamples(command, [
        { run: "npx cadastre version", does: "client, Node and server" },
        { run: "npx cadastre version -o json", does: "for scripts" },
      ]);
    },
  };
}

async function serverVersion(
  world: VerbWorld,
  context: CliContext,
): Promise<{ readonly version?: string; readonly problem?: string }> {
  try {
    return await withConnection(world, context, async ({ client }, { deadlineMs }) => {
      const timeoutMs = Math.min(deadlineMs ?? TIMEOUT_MS_MAX, TIMEOUT_MS_MAX);
      const status = await client.cluster.getStatus({}, { deadlineMs: timeoutMs });
      return { version: status.productVersion };
    });
  } catch (error) {
    return { problem: failureOf(error).message };
  }
}
