// `cadastre status`: the cluster on one screen. Every server is asked for itself, so it works with
// dead servers and without a quorum; then it ends with exit 7.
import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import type { CallOptions } from "../../client/call.ts";
import { CoordinationError } from "../../client/errors.ts";
import type { ClusterStatus } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { listAllKeyspaces } from "../directory/keyspaces.ts";
import { listAllNodes } from "../directory/nodes.ts";
import { addExamples } from "../help.ts";
import { askServers } from "../status/ask-servers.ts";
import { clusterHealth } from "../status/cluster-health.ts";
import { type ContentsView, statusJson, statusText } from "../status/status-view.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

export function statusCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const status = program
        .command("status")
        .description("Show on one screen whether all is well (exit 7: it serves nobody).")
        .action(() => showStatus(world, context));
      addExamples(status, [
        { run: "npx cadastre status", does: "the local cluster" },
        {
          run: "npx cadastre status --endpoints 10.0.0.1:7400 -o json",
          does: "another, for a script",
        },
      ]);
    },
  };
}

async function showStatus(world: VerbWorld, context: CliContext): Promise<void> {
  await withConnection(world, context, async (connection, call) => {
    const { timeoutMs } = context.options;
    const nowMs = (): number => world.wallNow().getTime();
    const answers = await askServers(connection, { timeoutMs, nowMs });
    const health = clusterHealth(answers);
    const serves = health.verdict === "healthy" || health.verdict === "degraded";
    const contents = serves ? await contentsOf(connection.client, call) : "it serves nobody";
    const cluster: ClusterStatus | undefined = answers.find((one) => one.status)?.status;
    context.print({
      json: () => statusJson(health, cluster, contents),
      text: () => statusText(health, cluster, contents, context.options.color),
    });
    if (!serves) context.setExitCode(EXIT.unhealthy);
  });
}

/** The directory's own answers, which need a quorum; or why they are not known. */
async function contentsOf(client: Client, call: CallOptions): Promise<ContentsView> {
  try {
    const [{ keyspaces }, { nodes }] = await Promise.all([
      listAllKeyspaces(client, call),
      listAllNodes(client, call),
    ]);
    return { keyspaces, nodes };
  } catch (error) {
    if (error instanceof CoordinationError) return error.message;
    throw error;
  }
}
