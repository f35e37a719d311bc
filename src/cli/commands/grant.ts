// `cadastre grant`: gives ranges to storage nodes, spread in contiguous blocks; on an owned range
// it records a successor, and with `--hand-over` asks the owner to stop for it. `--withdraw` takes
// a recorded successor back.
import type { Command } from "commander";
import { Option } from "commander";
import { type Span, WHOLE_SPAN } from "../../base/span.ts";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import type { KeyspaceRecord, RangeRecord } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { findKeyspace } from "../directory/keyspaces.ts";
import { listAllNodes, nodeNamed } from "../directory/nodes.ts";
import {
  parseName,
  parseNames,
  parseRangeIds,
  parseSpan,
  valueOfKind,
} from "../directory/options.ts";
import { type Selection, selectRanges } from "../directory/ranges.ts";
import { CliError, usageError } from "../failure.ts";
import { exitOfReport, grantAnswer, incompleteError } from "../grant/grant-report.ts";
import { sendGrants } from "../grant/send-grants.ts";
import { spreadEvenly } from "../grant/spread.ts";
import { withdrawSuccessor } from "../grant/withdraw.ts";
import { addExamples } from "../help.ts";
import type { EitherKind } from "../render/keys.ts";
import { countText, groupDigits } from "../render/table.ts";
import { type Connection, type VerbWorld, withConnection } from "../verb-world.ts";

interface GrantVerbOptions {
  readonly keyspace?: string;
  readonly range?: readonly string[];
  readonly span?: EitherKind<Span>;
  readonly all?: boolean;
  readonly to?: readonly string[];
  readonly onlyUnowned?: boolean;
  readonly handOver?: boolean;
  readonly withdraw?: boolean;
}

export function grantCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const grant = program
        .command("grant")
        .description(
          "Give ranges to storage nodes. Several nodes get contiguous blocks of ranges whose " +
            "sizes differ by one at most. An owned range gets a successor, which takes over " +
            "when the present lease ends, or with --hand-over as soon as the owner has stopped.",
        )
        .option("--keyspace <name>", "needed when there are several", parseName)
        .addOption(
          new Option("--range <ids>", "these ranges, with commas")
            .argParser(parseRangeIds)
            .conflicts(["span", "all"]),
        )
        .addOption(
          new Option("--span <A..B>", "the ranges that overlap it")
            .argParser(parseSpan)
            .conflicts("all"),
        )
        .option("--all", "every range of the keyspace")
        .option("--to <nodes>", "storage nodes, with commas", parseNames)
        .option("--only-unowned", "leave owned ranges alone")
        .addOption(
          new Option(
            "--hand-over",
            "ask owners to end what they are at and to stop, instead of serving to the lease's end",
          ).conflicts("onlyUnowned"),
        )
        .addOption(
          new Option("--withdraw", "take back the successor of --range").conflicts([
            "to",
            "span",
            "all",
            "onlyUnowned",
            "handOver",
          ]),
        )
        .action((options: GrantVerbOptions) =>
          options.withdraw === true
            ? withdraw(world, context, options)
            : grantRanges(world, context, options),
        );
      addExamples(grant, [
        {
          run: "npx cadastre grant --keyspace demo --all --to n1,n2,n3",
          does: "spread all ranges",
        },
        {
          run: "npx cadastre grant --range 1.12.0 --to n2 --hand-over",
          does: "move a range from its owner to another node now",
        },
        { run: "npx cadastre grant --withdraw --range 1.12.0", does: "take back a successor" },
      ]);
    },
  };
}

async function grantRanges(
  world: VerbWorld,
  context: CliContext,
  options: GrantVerbOptions,
): Promise<void> {
  const { to: nodeIds } = options;
  if (nodeIds === undefined)
    throw usageError("--to is missing", "name the storage nodes: --to ID,ID");
  if (options.range === undefined && options.span === undefined && options.all !== true) {
    throw usageError("no ranges are named", "give --range, --span or --all");
  }
  await withConnection(world, context, async (connection, call) => {
    const name = options.keyspace ?? (await keyspaceOfRange(connection.client, options, call));
    const keyspace = await findKeyspace(connection.client, name, call);
    const selection = selectionOf(options, keyspace);
    await requireSessions(connection, nodeIds, call);
    const ranges = await rangesToGrant(connection.client, keyspace, selection, options, call);
    if (ranges.length === 0) context.note("No range is to be granted.");
    await grantAndReport(world, context, connection.client, { ranges, nodeIds, keyspace, options });
  });
}

async function grantAndReport(
  world: VerbWorld,
  context: CliContext,
  client: Client,
  what: {
    readonly ranges: readonly RangeRecord[];
    readonly nodeIds: readonly string[];
    readonly keyspace: KeyspaceRecord;
    readonly options: GrantVerbOptions;
  },
): Promise<void> {
  const { ranges, nodeIds, keyspace } = what;
  const interrupt = world.catchInterrupt();
  try {
    const report = await sendGrants(client, spreadEvenly(ranges, nodeIds), {
      onlyUnowned: what.options.onlyUnowned === true,
      handOver: what.options.handOver === true,
      call: { deadlineMs: context.options.timeoutMs },
      signal: interrupt.signal,
      onProgress: (done) => {
        if (done < ranges.length)
          context.note(`${groupDigits(done)} of ${countText(ranges.length, "range")}`);
      },
    });
    const { color } = context.options;
    context.print(grantAnswer(report, { nodeIds, kind: keyspace.kind, color }));
    context.setExitCode(exitOfReport(report));
    const error = incompleteError(report);
    if (error !== undefined) throw error;
  } finally {
    interrupt.dispose();
  }
}

async function rangesToGrant(
  client: Client,
  keyspace: KeyspaceRecord,
  selection: Selection,
  options: GrantVerbOptions,
  call: CallOptions,
): Promise<RangeRecord[]> {
  const unownedOnly = options.onlyUnowned === true;
  const selected = await selectRanges(client, keyspace, selection, { ...call, unownedOnly });
  return unownedOnly
    ? selected.filter(({ descriptor }) => descriptor.owner === undefined)
    : selected;
}

/** Range ids name their keyspace themselves. */
async function keyspaceOfRange(
  client: Client,
  options: GrantVerbOptions,
  call: CallOptions,
): Promise<string | undefined> {
  const rangeId = options.range?.[0];
  if (rangeId === undefined) return undefined;
  const { range } = await client.directory.getRange({ rangeId }, call);
  return range.descriptor.keyspace;
}

function selectionOf(options: GrantVerbOptions, keyspace: KeyspaceRecord): Selection {
  const { range, span } = options;
  if (range !== undefined) return { kind: "ids", ids: range };
  if (span === undefined) return { kind: "span", span: WHOLE_SPAN };
  return { kind: "span", span: valueOfKind(span, keyspace.kind, "--span") };
}

/** Found out before the first of many requests, so that none of them is refused half-way. */
async function requireSessions(
  { client }: Connection,
  nodeIds: readonly string[],
  call: CallOptions,
): Promise<void> {
  const { nodes } = await listAllNodes(client, call);
  for (const nodeId of nodeIds) {
    if (nodeNamed(nodes, nodeId).sessionOpen) continue;
    throw new CliError({
      message: `storage node ${nodeId} has no open session, so it can hold no lease`,
      remedy: "start it first; `cadastre node list` shows its session",
      exit: EXIT.conflict,
      reason: "NO_SESSION",
    });
  }
}

async function withdraw(
  world: VerbWorld,
  context: CliContext,
  options: GrantVerbOptions,
): Promise<void> {
  const [rangeId, ...others] = options.range ?? [];
  if (rangeId === undefined || others.length > 0) {
    throw usageError("--withdraw is about one range", "name it: --withdraw --range ID");
  }
  await withConnection(world, context, ({ client }, call) =>
    withdrawSuccessor(client, context, rangeId, call),
  );
}
