// `cadastre release`: gives ranges up in their owner's name. Releasing is the owner's own act,
// done after it has stopped serving; an operator does it for an owner that is known to be stopped,
// and must say so with --yes while the directory still counts its session as open.
import type { Command } from "commander";
import { Option } from "commander";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import type { ItemOutcome, NodeRecord, RangeRecord } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import { ITEMS_MAX } from "../../wire/limits.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { listAllKeyspaces } from "../directory/keyspaces.ts";
import { listAllNodes, nodeNamed } from "../directory/nodes.ts";
import { parseName, parseRangeIds } from "../directory/options.ts";
import { allRanges } from "../directory/ranges.ts";
import { CliError, usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import { incarnationText } from "../render/owner.ts";
import { countText } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

const REFUSED_SHOWN_MAX = 10;

interface ReleaseOptions {
  readonly range?: readonly string[];
  readonly node?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

export function releaseCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const release = program
        .command("release")
        .description(
          "Give ranges up in the name of their owner, which must have stopped serving them.",
        )
        .addOption(
          new Option("--range <ids>", "these ranges, with commas")
            .argParser(parseRangeIds)
            .conflicts(["node", "all"]),
        )
        .option("--node <id>", "with --all: everything that this storage node owns", parseName)
        .option("--all", "see --node")
        .option("--yes", "go on although the owner's session is open: it has stopped serving")
        .action((options: ReleaseOptions) => releaseRanges(world, context, options));
      addExamples(release, [
        { run: "npx cadastre release --range 1.12.0", does: "give one range up" },
        {
          run: "npx cadastre release --node n3 --all --yes",
          does: "all of a node that was stopped",
        },
      ]);
    },
  };
}

async function releaseRanges(
  world: VerbWorld,
  context: CliContext,
  options: ReleaseOptions,
): Promise<void> {
  checkOptions(options);
  await withConnection(world, context, async ({ client }, call) => {
    const { nodes } = await listAllNodes(client, call);
    const ranges = await rangesToRelease(client, nodes, options, call);
    requireConsent(context, ranges, nodes, options);
    const outcomes: ItemOutcome[] = [];
    for (const request of requestsOf(ranges)) {
      try {
        outcomes.push(...(await sendRelease(client, request, call)));
      } catch (error) {
        context.note(
          `${released(outcomes)} of ${countText(ranges.length, "range")} released so far`,
        );
        throw error;
      }
    }
    const refused = outcomes.filter((outcome) => outcome.refused !== undefined);
    context.print({
      json: () => ({
        outcomes: outcomes.map((outcome) => ({
          rangeId: outcome.rangeId,
          refused: outcome.refused ?? null,
          currentEpoch: String(outcome.currentEpoch),
        })),
      }),
      text: () => outcomeLines(outcomes, refused).join("\n"),
    });
    if (refused.length > 0) context.setExitCode(EXIT.conflict);
  });
}

function checkOptions(options: ReleaseOptions): void {
  if (options.range !== undefined) return;
  if (options.node === undefined)
    throw usageError("no ranges are named", "give --range, or --node with --all");
  if (options.all !== true) {
    throw usageError("--node alone releases nothing", "add --all to release everything it owns");
  }
}

async function rangesToRelease(
  client: Client,
  nodes: readonly NodeRecord[],
  options: ReleaseOptions,
  call: CallOptions,
): Promise<RangeRecord[]> {
  const ranges: RangeRecord[] = [];
  for (const rangeId of options.range ?? []) {
    const { range } = await client.directory.getRange({ rangeId }, call);
    if (range.descriptor.owner === undefined) {
      throw new CliError({ message: `range ${rangeId} is unowned already`, exit: EXIT.conflict });
    }
    ranges.push(range);
  }
  if (options.node !== undefined) {
    const { nodeId } = nodeNamed(nodes, options.node);
    const { keyspaces } = await listAllKeyspaces(client, call);
    for (const { name } of keyspaces) {
      const found = await allRanges(client, { keyspace: name, nodeId }, call);
      ranges.push(...found.filter((range) => range.descriptor.owner?.nodeId === nodeId));
    }
  }
  return ranges;
}

/** An owner that still serves, and whose range goes to another, makes two owners. */
function requireConsent(
  context: CliContext,
  ranges: readonly RangeRecord[],
  nodes: readonly NodeRecord[],
  options: ReleaseOptions,
): void {
  const live = ranges.find(({ descriptor: { owner } }) => {
    const node = nodes.find((one) => one.nodeId === owner?.nodeId);
    return node !== undefined && (node.sessionOpen || node.incarnation !== owner?.incarnation);
  });
  const owner = live?.descriptor.owner;
  if (owner === undefined) return;
  const warning = `${incarnationText(owner)} may still be serving: its lease has not run out`;
  if (options.yes !== true) {
    throw new CliError({
      message: warning,
      remedy: "stop it, or wait for the lease to end; with --yes you state that it has stopped",
      exit: EXIT.conflict,
    });
  }
  context.note(`Warning: ${warning}. Released on your word that it has stopped.`);
}

/** Of one owner and one group each, 1,000 items at most. */
function requestsOf(ranges: readonly RangeRecord[]): RangeRecord[][] {
  const requests = new Map<string, RangeRecord[][]>();
  for (const range of ranges) {
    const { owner, group } = range.descriptor;
    const key = `${owner?.nodeId} ${owner?.incarnation} ${group}`;
    const ofKey = requests.get(key) ?? [];
    requests.set(key, ofKey);
    const last = ofKey.at(-1);
    if (last !== undefined && last.length < ITEMS_MAX) last.push(range);
    else ofKey.push([range]);
  }
  return [...requests.values()].flat();
}

async function sendRelease(
  client: Client,
  request: readonly RangeRecord[],
  call: CallOptions,
): Promise<readonly ItemOutcome[]> {
  const first = request[0]?.descriptor;
  if (first?.owner === undefined) return [];
  const answer = await client.ownership.release(
    {
      owner: first.owner,
      group: first.group,
      ranges: request.map(({ descriptor: { rangeId, epoch } }) => ({ rangeId, epoch })),
    },
    call,
  );
  return answer.outcomes;
}

function outcomeLines(outcomes: readonly ItemOutcome[], refused: readonly ItemOutcome[]): string[] {
  const lines = [`Released ${countText(released(outcomes), "range")}.`];
  for (const outcome of refused.slice(0, REFUSED_SHOWN_MAX)) {
    const { rangeId, refused: why, currentEpoch } = outcome;
    lines.push(`Not released: range ${rangeId}, ${why} (its epoch is ${currentEpoch}).`);
  }
  const more = refused.length - REFUSED_SHOWN_MAX;
  return more > 0 ? [...lines, `And ${more} more were not released.`] : lines;
}

function released(outcomes: readonly ItemOutcome[]): number {
  return outcomes.filter((outcome) => outcome.refused === undefined).length;
}
