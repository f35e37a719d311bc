// `cadastre import FILE`: another system's partition map as a keyspace. Without --apply it says
// what the map holds and what is wrong with it, and talks to nobody.
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { Option } from "commander";
import { type ImportedMap, isImportable, MAP_FORMATS } from "../../importers/imported-map.ts";
import type { MapFormat } from "../../importers/imported-map.ts";
import { importMap } from "../../importers/import-map.ts";
import { renameOwners } from "../../importers/rename-owners.ts";
import { summaryLines } from "../../importers/summary.ts";
import type { CommitImportAnswer } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import type { CliContext, CommandModule, JsonValue } from "../context.ts";
import { gatherPairs, parseName } from "../directory/options.ts";
import { CliError, usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import { checkOwnerIds, sendImport } from "../import/send-import.ts";
import { headerJson } from "../render/json.ts";
import { countText } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

const CHUNK_BYTES = 1024 * 1024;

interface ImportVerbOptions {
  readonly keyspace: string;
  readonly format: MapFormat;
  readonly apply?: boolean;
  readonly as?: Readonly<Record<string, string>>;
  readonly extend?: boolean;
  readonly datacenter?: string;
}

export function importCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const command = program
        .command("import")
        .description("Check another system's partition map, and with --apply bring it in.")
        .argument("<file>", "the map; - is the standard input")
        .addOption(
          new Option("--keyspace <name>", "made if it does not exist")
            .argParser(parseName)
            .makeOptionMandatory(),
        )
        .addOption(
          new Option("--format <format>", "what the file is")
            .choices(MAP_FORMATS)
            .makeOptionMandatory(),
        )
        .option("--apply", "bring it in; else only check it (exit 1: it cannot be imported)")
        .option("--as <old=new>", "the storage node of an owner, once for each", gatherPairs)
        .option("--extend", "stretch the first and last range to the ends of the key space")
        .option("--datacenter <name>", "cassandra-ring: only this datacenter's tokens")
        .action((file: string, options: ImportVerbOptions) =>
          runImport(world, context, file, options),
        );
      addExamples(command, [
        {
          run: "npx cadastre import map.jsonl --keyspace demo --format jsonl",
          does: "check a map",
        },
        {
          run: "npx cadastre import ring.txt --keyspace r --format cassandra-ring --apply",
          does: "bring a ring in",
        },
      ]);
    },
  };
}

async function runImport(
  world: VerbWorld,
  context: CliContext,
  file: string,
  options: ImportVerbOptions,
): Promise<void> {
  const map = await readMap(world, context, file, options);
  if (options.apply !== true) {
    context.print({ json: () => mapJson(map), text: () => summaryLines(map).join("\n") });
    if (!isImportable(map)) context.setExitCode(EXIT.failed);
    return;
  }
  for (const line of summaryLines(map)) context.note(line);
  if (!isImportable(map)) {
    throw new CliError({
      message: `${file} cannot be imported: it does not tile the key space, or has errors`,
      remedy: "correct what is listed; --extend stretches the outer ranges",
    });
  }
  checkOwnerIds(map);
  const answer = await apply(world, context, map, options);
  context.print({
    json: () => appliedJson(answer, options.keyspace),
    text: () => appliedText(answer, options.keyspace),
  });
}

async function apply(
  world: VerbWorld,
  context: CliContext,
  map: ImportedMap,
  options: ImportVerbOptions,
): Promise<CommitImportAnswer> {
  const interrupt = world.catchInterrupt();
  try {
    return await withConnection(world, context, ({ client }, call) =>
      sendImport(client, map, {
        keyspace: options.keyspace,
        importId: `import-${randomUUID()}`,
        call,
        signal: interrupt.signal,
        note: (line) => context.note(line),
      }),
    );
  } finally {
    interrupt.dispose();
  }
}

async function readMap(
  world: VerbWorld,
  context: CliContext,
  file: string,
  options: ImportVerbOptions,
): Promise<ImportedMap> {
  const bytes = await world.readInput(file, context);
  const { datacenter } = options;
  const map = importMap(options.format, textChunks(bytes, file), {
    extendOuterBounds: options.extend === true,
    ...(datacenter === undefined ? {} : { datacenter }),
  });
  const renamed = renameOwners(map, options.as ?? {});
  if (!renamed.ok) throw usageError(`--as: ${renamed.error}`);
  return renamed.value;
}

/** In pieces, so that a large map is never one string. Binary keys are hex in every format. */
function* textChunks(bytes: Uint8Array, file: string): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const isLast = at + CHUNK_BYTES >= bytes.length;
    try {
      yield decoder.decode(bytes.subarray(at, at + CHUNK_BYTES), { stream: !isLast });
    } catch {
      throw usageError(`${file} is not UTF-8 text`, "is it compressed, or another file?");
    }
  }
}

function mapJson(map: ImportedMap): JsonValue {
  return {
    format: map.format,
    kind: map.kind,
    hashFunction: map.hashFunction ?? null,
    importable: isImportable(map),
    rangeCount: String(map.ranges.length),
    sourceRangeCount: String(map.sourceRanges),
    owners: map.owners.map(({ name, address, ranges }) => ({
      name,
      address: address ?? null,
      rangeCount: String(ranges),
    })),
    findings: map.findings.map(({ kind, severity, message, lines }) => ({
      kind,
      severity,
      message,
      lines,
    })),
    findingCounts: Object.fromEntries(
      [...map.findingCounts].map(([kind, count]) => [kind, String(count)]),
    ),
  };
}

function appliedJson(answer: CommitImportAnswer, keyspace: string): JsonValue {
  return {
    keyspace,
    rangeCount: String(answer.rangeCount),
    grantedCount: String(answer.grantedCount),
    header: headerJson(answer.header),
  };
}

function appliedText(answer: CommitImportAnswer, keyspace: string): string {
  const { rangeCount, grantedCount, header } = answer;
  const waiting =
    grantedCount === rangeCount
      ? ""
      : "; the others are granted to their intended owners when those open a session";
  return (
    `Imported ${countText(rangeCount, "range")} into ${keyspace} at revision ${header.revision}. ` +
    `${countText(grantedCount, "range")} granted at once${waiting}.`
  );
}
