// `cadastre route KEY`: which range holds a key, under which epoch, and who owns it. An unowned
// range is an answer, too; scripts tell it by exit code 4.
import { Argument, type Command, Option } from "commander";
import type { Bytes } from "../../base/bytes.ts";
import type { Revision } from "../../base/brands.ts";
import type { KeyspaceKind, LookupAnswer, ReadOptions } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { findKeyspace } from "../directory/keyspaces.ts";
import { parseKey, parseName, parseRevision, valueOfKind } from "../directory/options.ts";
import { addExamples } from "../help.ts";
import { durationToText } from "../render/duration.ts";
import { descriptorJson, readJson } from "../render/json.ts";
import { type EitherKind, spanText } from "../render/keys.ts";
import { incarnationText, ownerText } from "../render/owner.ts";
import { countText, fieldLines } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

interface RouteOptions {
  readonly keyspace?: string;
  readonly consistency?: "linearizable" | "local";
  readonly atLeast?: Revision;
}

export function routeCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const route = program
        .command("route")
        .description("Show which range holds a key, and who owns it (exit 4: nobody).")
        .addArgument(
          new Argument(
            "<key>",
            "a key, \\xNN or hex: for bytes; a token in hash keyspaces",
          ).argParser(parseKey),
        )
        .option("--keyspace <name>", "needed when there are several", parseName)
        .addOption(
          new Option("--consistency <level>", "what the answer reflects (default: linearizable)")
            .choices(["linearizable", "local"])
            .conflicts("atLeast"),
        )
        .option(
          "--at-least <revision>",
          "any server's answer, at this revision or later",
          parseRevision,
        )
        .action((key: EitherKind<Bytes>, options: RouteOptions) =>
          showRoute(world, context, key, options),
        );
      addExamples(route, [
        { run: "npx cadastre route user:42 --keyspace demo", does: "who owns this key" },
        { run: "npx cadastre route --keyspace ring -o json -- -42", does: "who owns this token" },
      ]);
    },
  };
}

async function showRoute(
  world: VerbWorld,
  context: CliContext,
  keyGiven: EitherKind<Bytes>,
  options: RouteOptions,
): Promise<void> {
  await withConnection(world, context, async ({ client }, call) => {
    const { name, kind } = await findKeyspace(client, options.keyspace, call);
    const key = valueOfKind(keyGiven, kind, "KEY");
    const read = readOptionsOf(options);
    const answer = await client.directory.lookup({ keyspace: name, key, read }, call);
    const { descriptor, addresses, intendedNodeId } = answer.route;
    context.print({
      json: () => ({
        range: descriptorJson(descriptor, kind),
        addresses,
        intendedNodeId: intendedNodeId ?? null,
        ...readJson(answer),
      }),
      text: () => routeText(answer, kind),
    });
    if (descriptor.owner === undefined) context.setExitCode(EXIT.conflict);
  });
}

function readOptionsOf(options: RouteOptions): ReadOptions {
  if (options.atLeast !== undefined) return { kind: "atLeast", revision: options.atLeast };
  return { kind: options.consistency ?? "linearizable" };
}

function routeText(answer: LookupAnswer, kind: KeyspaceKind): string {
  const { descriptor, addresses, intendedNodeId } = answer.route;
  const { epoch, owner, rangeId, span } = descriptor;
  const owned: [string, string][] =
    owner === undefined
      ? [["owner", ownerText(owner, intendedNodeId)]]
      : [
          ["owner", incarnationText(owner)],
          ["addresses", addresses.join(", ")],
        ];
  const { staleness } = answer;
  const age =
    staleness === undefined
      ? []
      : [["staleness", stalenessText(staleness.revisions, staleness.confirmedMsAgo)] as const];
  return fieldLines([
    ["range", rangeId],
    ["keyspace", descriptor.keyspace],
    ["span", spanText(span, kind)],
    ["epoch", String(epoch)],
    ...owned,
    ["revision", String(answer.header.revision)],
    ...age,
  ]).join("\n");
}

function stalenessText(revisions: number, confirmedMsAgo: number | undefined): string {
  const behind = `${countText(revisions, "revision")} behind what this server knows`;
  return confirmedMsAgo === undefined
    ? `${behind}, never confirmed by a leader`
    : `${behind}, confirmed ${durationToText(confirmedMsAgo)} ago`;
}
