// Every verb of the CLI, in the order of `cadastre --help`. A new file in commands/ is added here
// and nowhere else.
import { devCommand } from "./commands/dev.ts";
import { grantCommand } from "./commands/grant.ts";
import { importCommand } from "./commands/import.ts";
import { keyspaceCommand } from "./commands/keyspace.ts";
import { nodeCommand } from "./commands/node.ts";
import { rangeCommand } from "./commands/range.ts";
import { releaseCommand } from "./commands/release.ts";
import { routeCommand } from "./commands/route.ts";
import { serveCommand } from "./commands/serve.ts";
import { statusCommand } from "./commands/status.ts";
import { versionCommand } from "./commands/version.ts";
import { watchCommand } from "./commands/watch.ts";
import { PROCESS_WORLD } from "./connect.ts";
import type { CommandModule } from "./context.ts";

export const COMMANDS: readonly CommandModule[] = [
  devCommand(),
  serveCommand,
  statusCommand(PROCESS_WORLD),
  keyspaceCommand(PROCESS_WORLD),
  nodeCommand(PROCESS_WORLD),
  rangeCommand(PROCESS_WORLD),
  routeCommand(PROCESS_WORLD),
  grantCommand(PROCESS_WORLD),
  releaseCommand(PROCESS_WORLD),
  watchCommand(PROCESS_WORLD),
  importCommand(PROCESS_WORLD),
  versionCommand(PROCESS_WORLD),
];
