// `cadastre range list` and `cadastre range get`: the ranges of a keyspace in key order, page by
// page, and one range with what is left of its lease.
import type { Command } from "commander";
import type { Bytes } from "../../base/bytes.ts";
import { type Span, WHOLE_SPAN } from "../../base/span.ts";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import type { ListRangesInput } from "../../client/requests.ts";
import { spanToArgument } from "../../keys/span-text.ts";
import { keyToToken } from "../../keys/token.ts";
import type {
  GetRangeAnswer,
  KeyspaceKind,
  ListRangesAnswer,
  RangeRecord,
} from "../../wire/api.ts";
import { PAGE_SIZE_DEFAULT } from "../../wire/limits.ts";
import { type CliContext, type CommandModule, toJsonText } from "../context.ts";
import { findKeyspace, listAllKeyspaces } from "../directory/keyspaces.ts";
import {
  parseName,
  parsePageSize,
  parseRangeId,
  parseSpan,
  valueOfKind,
} from "../directory/options.ts";
import { rangePages } from "../directory/ranges.ts";
import { addExamples } from "../help.ts";
import { durationToText } from "../render/duration.ts";
import { headerJson, rangeJson, readJson } from "../render/json.ts";
import { type EitherKind, spanText } from "../render/keys.ts";
import { holderText, incarnationText, ownerText } from "../render/owner.ts";
import { type Column, countText, fieldLines, Table } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

const LIMIT_DEFAULT = 100;

const COLUMNS: readonly Column[] = [
  { title: "RANGE" },
  { title: "SPAN" },
  { title: "EPOCH", align: "right" },
  { title: "ACCEPTED", align: "right" },
  { title: "OWNER" },
];

interface ListOptions {
  readonly span?: EitherKind<Span>;
  readonly node?: string;
  readonly unowned?: boolean;
  readonly limit?: number;
  readonly all?: boolean;
  readonly pageToken?: string;
}

export function rangeCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const range = program.command("range").description("Look at ranges.");
      addExamples(range, [
        { run: "npx cadastre range list demo", does: "the ranges of a keyspace" },
        { run: "npx cadastre range get 1.12.0", does: "all that is known of one" },
      ]);
      registerList(range, context, world);
      registerGet(range, context, world);
    },
  };
}

function registerList(range: Command, context: CliContext, world: VerbWorld): void {
  const list = range
    .command("list")
    .description("List the ranges of a keyspace in key order.")
    .argument("<keyspace>", "its name", parseName)
    .option("--span <A..B>", "only ranges that overlap it; either side may be empty", parseSpan)
    .option("--node <id>", "only what this storage node owns", parseName)
    .option("--unowned", "only ranges without an owner")
    .option("--limit <n>", `ranges of one page (default: ${LIMIT_DEFAULT})`, parsePageSize)
    .option("--all", "all pages")
    .option("--page-token <token>", "go on from an earlier answer's nextPageToken")
    .action((keyspace: string, options: ListOptions) =>
      listRanges(world, context, keyspace, options),
    );
  addExamples(list, [
    { run: "npx cadastre range list demo --limit 20", does: "the first ranges" },
    { run: "npx cadastre range list demo --span g..m --unowned", does: "what nobody owns there" },
  ]);
}

function registerGet(range: Command, context: CliContext, world: VerbWorld): void {
  const get = range
    .command("get")
    .description("Show one range: owner, epoch, what is left of the lease, successor.")
    .argument("<range-id>", "as `range list` prints it", parseRangeId)
    .action((rangeId: string) => showRange(world, context, rangeId));
  addExamples(get, [
    { run: "npx cadastre range get 1.12.0", does: "show a range" },
    { run: "npx cadastre range get 1.12.0 -o json", does: "the same for a script" },
  ]);
}

async function listRanges(
  world: VerbWorld,
  context: CliContext,
  name: string,
  options: ListOptions,
): Promise<void> {
  await withConnection(world, context, async ({ client }, call) => {
    const { kind } = await findKeyspace(client, name, call);
    const span =
      options.span === undefined ? WHOLE_SPAN : valueOfKind(options.span, kind, "--span");
    const input: ListRangesInput = {
      keyspace: name,
      span,
      nodeId: options.node,
      unownedOnly: options.unowned === true,
      pageSize: options.limit ?? (options.all === true ? PAGE_SIZE_DEFAULT : LIMIT_DEFAULT),
      pageToken: options.pageToken ?? "",
    };
    const pages = rangePages(client, input, call);
    const wanted = options.all === true ? pages : firstFilled(pages);
    if (context.options.output === "json") return printJson(context, wanted, kind);
    const last = await printTables(context, wanted, kind);
    if (last.count === 0) {
      context.note(isFiltered(options) ? "No range matches." : "There are no ranges.");
    } else if (last.startOfRest !== undefined) {
      const rest = spanArgument({ startKey: last.startOfRest, endKey: span.endKey }, kind);
      context.note(
        `${countText(last.count, "range")}, and there are more: add --all or a larger --limit, ` +
          `or go on with --span '${rest}'`,
      );
    }
  });
}

function isFiltered(options: ListOptions): boolean {
  return [options.span, options.node, options.unowned].some((filter) => filter !== undefined);
}

/** The first page that has ranges: a filter may leave pages empty. */
async function* firstFilled(
  pages: AsyncGenerator<ListRangesAnswer>,
): AsyncGenerator<ListRangesAnswer> {
  for await (const page of pages) {
    if (page.ranges.length === 0 && page.nextPageToken !== "") continue;
    yield page;
    return;
  }
}

interface Printed {
  readonly count: number;
  /** Where the next page begins; undefined: that was all. */
  readonly startOfRest: Bytes | undefined;
}

async function printTables(
  context: CliContext,
  pages: AsyncGenerator<ListRangesAnswer>,
  kind: KeyspaceKind,
): Promise<Printed> {
  const table = new Table(COLUMNS, { color: context.options.color });
  let count = 0;
  let startOfRest: Bytes | undefined;
  for await (const { ranges, nextPageToken } of pages) {
    const last = ranges.at(-1);
    if (last === undefined) continue;
    count += ranges.length;
    startOfRest = nextPageToken === "" ? undefined : last.descriptor.span.endKey;
    const lines = table.lines(ranges.map((record) => rowOf(record, kind)));
    context.stdout.write(`${lines.join("\n")}\n`);
  }
  return { count, startOfRest };
}

function spanArgument(span: Span, kind: KeyspaceKind): string {
  if (kind === "range") return spanToArgument(span);
  const start = keyToToken(span.startKey);
  const end = span.endKey === undefined ? undefined : keyToToken(span.endKey);
  return `${start.ok ? start.value : ""}..${end?.ok === true ? end.value : ""}`;
}

/** One document, written page by page: a million ranges never stand in memory at once. */
async function printJson(
  context: CliContext,
  pages: AsyncGenerator<ListRangesAnswer>,
  kind: KeyspaceKind,
): Promise<void> {
  let hasBegun = false;
  let count = 0;
  let nextPageToken = "";
  for await (const page of pages) {
    ({ nextPageToken } = page);
    if (!hasBegun) {
      hasBegun = true;
      context.stdout.write(`{"header":${toJsonText(headerJson(page.header))},"ranges":[`);
    }
    for (const record of page.ranges) {
      context.stdout.write((count++ === 0 ? "" : ",") + toJsonText(rangeJson(record, kind)));
    }
  }
  const token = toJsonText(nextPageToken === "" ? null : nextPageToken);
  context.stdout.write(`],"nextPageToken":${token}}\n`);
}

function rowOf(record: RangeRecord, kind: KeyspaceKind): string[] {
  const { rangeId, span, epoch } = record.descriptor;
  const accepted = record.acceptedEpoch === 0 ? "-" : String(record.acceptedEpoch);
  return [rangeId, spanText(span, kind), String(epoch), accepted, holderText(record)];
}

async function showRange(world: VerbWorld, context: CliContext, rangeId: string): Promise<void> {
  await withConnection(world, context, async ({ client }, call) => {
    const answer = await client.directory.getRange({ rangeId }, call);
    const kind = await kindOf(client, answer.range.descriptor.keyspace, call);
    context.print({
      json: () => ({
        range: rangeJson(answer.range, kind),
        leaseRemainingMs: String(answer.leaseRemainingMs),
        addresses: answer.addresses,
        ...readJson(answer),
      }),
      text: () => rangeText(answer, kind),
    });
  });
}

async function kindOf(client: Client, name: string, call: CallOptions): Promise<KeyspaceKind> {
  const { keyspaces } = await listAllKeyspaces(client, call);
  return keyspaces.find((keyspace) => keyspace.name === name)?.kind ?? "range";
}

function rangeText(answer: GetRangeAnswer, kind: KeyspaceKind): string {
  const { range, addresses, leaseRemainingMs, header } = answer;
  const { descriptor, successor, intendedNodeId, acceptedEpoch } = range;
  const { owner } = descriptor;
  const fields: [string, string][] = [
    ["range", descriptor.rangeId],
    ["keyspace", descriptor.keyspace],
    ["span", spanText(descriptor.span, kind)],
    ["epoch", descriptor.epoch === 0 ? "0 (never granted)" : String(descriptor.epoch)],
    ["accepted epoch", acceptedEpoch === 0 ? "none yet" : String(acceptedEpoch)],
    ["owner", owner === undefined ? ownerText(owner, intendedNodeId) : incarnationText(owner)],
  ];
  if (owner !== undefined) {
    fields.push(
      ["addresses", addresses.join(", ")],
      ["lease left", durationToText(leaseRemainingMs)],
    );
  }
  if (successor !== undefined) {
    const asked = range.handOverRevision === 0 ? "" : ", for whom the owner was asked to stop";
    fields.push(["successor", incarnationText(successor) + asked]);
  }
  if (owner !== undefined && intendedNodeId !== undefined)
    fields.push(["intended for", intendedNodeId]);
  fields.push(
    ["descriptor revision", String(descriptor.descriptorRevision)],
    ["revision", String(header.revision)],
  );
  return fieldLines(fields).join("\n");
}
