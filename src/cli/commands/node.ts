// `cadastre node list` shows the registered storage nodes and whose session is open. `cadastre
// node run` is a reference owner, for trying leases out.
import path from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { NodeRecord } from "../../wire/api.ts";
import {
  ADDRESSES_MAX,
  LABEL_VALUE_CHARS_MAX,
  LABELS_MAX,
  NAME_CHARS_MAX,
} from "../../wire/limits.ts";
import { parseEndpoints, parseWholeNumber } from "../arguments.ts";
import { freshNonce } from "../../fence/level/fresh-nonce.ts";
import { systemClock, systemTimers } from "../../server/system.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { listAllNodes } from "../directory/nodes.ts";
import { gatherPairs, isName, parseName } from "../directory/options.ts";
import { usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import { type NodeWorld, runNode } from "../node/run-node.ts";
import { durationToText } from "../render/duration.ts";
import { headerJson, nodeJson } from "../render/json.ts";
import { type Column, groupDigits, tableLines } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

/** This owner listens nowhere, and says so. */
const ADDRESS_DEFAULT = "localhost:1";

const COLUMNS: readonly Column[] = [
  { title: "NODE" },
  { title: "INCARNATION", align: "right" },
  { title: "SESSION" },
  { title: "RANGES", align: "right" },
  { title: "ZONE" },
  { title: "CAPACITY", align: "right" },
  { title: "ADDRESSES" },
  { title: "LABELS" },
];

interface RunOptions {
  readonly zone?: string;
  readonly dataDir: string;
  readonly address?: readonly string[];
  readonly label?: Readonly<Record<string, string>>;
  readonly capacity?: number;
  readonly keepOnExit?: boolean;
  readonly quiet?: boolean;
}

export function nodeCommand(
  world: VerbWorld,
  nodeWorld: NodeWorld = processNodeWorld(world),
): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const node = program.command("node").description("List storage nodes, or run one.");
      addExamples(node, [
        { run: "npx cadastre node list", does: "who is registered" },
        { run: "npx cadastre node run n1 --data-dir .node-1", does: "an owner to grant ranges to" },
      ]);
      const list = node
        .command("list")
        .description("List the registered storage nodes.")
        .action(() => listNodes(world, context));
      addExamples(list, [
        { run: "npx cadastre node list", does: "who is registered, and whose session is open" },
        { run: "npx cadastre node list -o json", does: "the same for a script" },
      ]);
      registerRun(node, context, world, nodeWorld);
    },
  };
}

function registerRun(
  node: Command,
  context: CliContext,
  world: VerbWorld,
  nodeWorld: NodeWorld,
): void {
  const run = node
    .command("run")
    .description(
      "Run a reference storage node: it holds what it is granted, renews it, keeps no data and " +
        "listens nowhere. Ctrl-C releases its ranges.",
    )
    .argument("<id>", "its node id, bound to the data directory", parseName)
    .requiredOption("--data-dir <dir>", "where it remembers its epochs; made if it is not there")
    .option("--zone <name>", "where it runs", parseName)
    .option("--address <list>", "what clients are told, host:port with commas", parseEndpoints)
    .option("--label <name=value>", "may be given several times", gatherPairs)
    .option("--capacity <n>", "what it can carry, in units of your choice", parseCapacity)
    .option("--keep-on-exit", "release nothing at Ctrl-C: the leases run out")
    .option("--quiet", "leave renewals out")
    .action((id: string, options: RunOptions) => {
      const given = {
        nodeId: id,
        addresses: options.address ?? [ADDRESS_DEFAULT],
        zone: options.zone ?? "",
        labels: options.label ?? {},
        capacity: options.capacity ?? 0,
        dataDir: path.resolve(context.cwd, options.dataDir),
        keepOnExit: options.keepOnExit === true,
        quiet: options.quiet === true,
      };
      if (given.addresses.length > ADDRESSES_MAX) {
        throw usageError(`--address: at most ${ADDRESSES_MAX} addresses`);
      }
      checkLabels(given.labels);
      return withConnection(world, context, (connection) =>
        runNode(nodeWorld, context, connection, given),
      );
    });
  addExamples(run, [
    {
      run: "npx cadastre node run n1 --zone a --data-dir .node-1",
      does: "an owner to grant ranges to",
    },
    { run: "npx cadastre node run n1 --data-dir .node-1 --quiet", does: "print changes only" },
  ]);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) throw usageError(`--label: at most ${LABELS_MAX} labels`);
  for (const [name, value] of entries) {
    if (!isName(name)) {
      throw usageError(`--label: "${name}" is not 1 to ${NAME_CHARS_MAX} of A-Z a-z 0-9 _ . -`);
    }
    if (value.length > LABEL_VALUE_CHARS_MAX) {
      throw usageError(`--label: the value of ${name} is longer than ${LABEL_VALUE_CHARS_MAX}`);
    }
  }
}

function parseCapacity(text: string): number {
  try {
    return parseWholeNumber(text, { min: 0, max: 1e15 - 1, what: "a capacity" });
  } catch {
    throw new InvalidArgumentError("Give a whole number, 0 or more.");
  }
}

async function listNodes(world: VerbWorld, context: CliContext): Promise<void> {
  await withConnection(world, context, async ({ client }, call) => {
    const { header, nodes } = await listAllNodes(client, call);
    context.print({
      json: () => ({ header: headerJson(header), nodes: nodes.map(nodeJson) }),
      text: () =>
        tableLines(COLUMNS, nodes.map(nodeRow), { color: context.options.color }).join("\n"),
    });
    if (nodes.length === 0) {
      context.note("No storage node has registered: cadastre node run ID --data-dir DIR");
    }
  });
}

function nodeRow(node: NodeRecord): string[] {
  const labels = Object.entries(node.labels).map(([name, value]) => `${name}=${value}`);
  return [
    node.nodeId,
    String(node.incarnation),
    node.sessionOpen ? `open, ${durationToText(node.sessionRemainingMs)}` : "none",
    groupDigits(node.rangesOwned),
    node.zone === "" ? "-" : node.zone,
    node.capacity === 0 ? "-" : groupDigits(node.capacity),
    node.addresses.join(","),
    labels.length === 0 ? "-" : labels.join(","),
  ];
}

/** The store is loaded when a node is run, not with every command line. */
function processNodeWorld(world: VerbWorld): NodeWorld {
  return {
    catchInterrupt: () => world.catchInterrupt(),
    wallNow: () => world.wallNow(),
    clock: systemClock,
    timers: systemTimers,
    freshNonce,
    openNodeData: async (dataDir) => {
      const { openNodeData } = await import("../../fence/level/node-data.ts");
      return openNodeData(dataDir);
    },
    takeSeat: async (options) => {
      const { takeSeat } = await import("../../fence/seat.ts");
      return takeSeat(options);
    },
  };
}
