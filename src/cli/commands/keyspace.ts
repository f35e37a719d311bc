// `cadastre keyspace create` and `cadastre keyspace list`. Creating with boundaries is two steps
// of the directory; repeating the command after a failure between them does the second one.
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { CoordinationError } from "../../client/errors.ts";
import type {
  CreateKeyspaceRequest,
  DataKind,
  KeyspaceKind,
  KeyspaceRecord,
  LeaseMode,
} from "../../wire/api.ts";
import {
  LEASE_MS_DEFAULT,
  LEASE_MS_MAX,
  LEASE_MS_MIN,
  RENEW_MS_MIN,
  RENEWALS_PER_LEASE,
} from "../../wire/limits.ts";
import { parseDurationMs } from "../arguments.ts";
import type { CliContext, CommandModule } from "../context.ts";
import { listAllKeyspaces } from "../directory/keyspaces.ts";
import { parseName } from "../directory/options.ts";
import { usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import { readSplitKeys } from "../keyspace/split-keys.ts";
import { durationToText } from "../render/duration.ts";
import { headerJson, keyspaceJson } from "../render/json.ts";
import { type Column, countText, groupDigits, tableLines } from "../render/table.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";

export const KEYSPACE_COLUMNS: readonly Column[] = [
  { title: "KEYSPACE" },
  { title: "KIND" },
  { title: "RANGES", align: "right" },
  { title: "UNOWNED", align: "right" },
  { title: "LEASE", align: "right" },
  { title: "RENEWED", align: "right" },
  { title: "MODE" },
  { title: "DATA" },
  { title: "STATE" },
];

interface CreateOptions {
  readonly kind: KeyspaceKind;
  readonly hashFunction?: "given";
  readonly lease?: number;
  readonly renew?: number;
  readonly mode: LeaseMode;
  readonly data: DataKind;
  readonly splitAt?: string;
  readonly splitFile?: string;
}

type Settings = Omit<CreateKeyspaceRequest, "requestId">;

export function keyspaceCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const keyspace = program.command("keyspace").description("Make and list keyspaces.");
      addExamples(keyspace, [
        { run: "npx cadastre keyspace create demo --split-at g,m,t", does: "four ranges" },
        { run: "npx cadastre keyspace list", does: "show all keyspaces" },
      ]);
      registerCreate(keyspace, context, world);
      const list = keyspace
        .command("list")
        .description("List the keyspaces, their leases and how many of their ranges are unowned.")
        .action(() => listKeyspaces(world, context));
      addExamples(list, [
        { run: "npx cadastre keyspace list", does: "show all keyspaces" },
        { run: "npx cadastre keyspace list -o json", does: "the same for a script" },
      ]);
    },
  };
}

function registerCreate(keyspace: Command, context: CliContext, world: VerbWorld): void {
  const create = keyspace
    .command("create")
    .description("Make a keyspace: one range, or those between the given split keys.")
    .argument("<name>", "1 to 64 of A-Z a-z 0-9 _ . -", parseName)
    .addOption(
      new Option("--kind <kind>", "ordered keys, or positions of a hash")
        .choices(["range", "hash"])
        .default("range"),
    )
    .addOption(
      new Option("--hash-function <name>", "given: the caller gives 64-bit tokens").choices([
        "given",
      ]),
    )
    .option("--lease <duration>", "how long a lease lasts (default: 10s)", parseLease)
    .option("--renew <duration>", "how often owners renew (default: a third)", parseDurationMs)
    .addOption(
      new Option("--mode <mode>", "what owners do while the directory is away: stop, or go on")
        .choices(["exclusive", "affinity"])
        .default("exclusive"),
    )
    .addOption(
      new Option("--data <kind>", "where the data of a range are")
        .choices(["none", "shared", "local"])
        .default("local"),
    )
    .addOption(
      new Option("--split-at <keys>", "boundaries, with commas (\\x2c in a key)").conflicts(
        "splitFile",
      ),
    )
    .option("--split-file <file>", "boundaries, one key a line")
    .action((name: string, options: CreateOptions) =>
      createKeyspace(world, context, name, options),
    );
  addExamples(create, [
    {
      run: "npx cadastre keyspace create demo --split-at g,m,t",
      does: "four ranges of ordered keys",
    },
    {
      run: "npx cadastre keyspace create ring --kind hash --lease 30s",
      does: "tokens, longer leases",
    },
  ]);
}

function parseLease(text: string): number {
  const ms = parseDurationMs(text);
  if (ms >= LEASE_MS_MIN && ms <= LEASE_MS_MAX) return ms;
  const bounds = `${durationToText(LEASE_MS_MIN)} to ${durationToText(LEASE_MS_MAX)}`;
  throw new InvalidArgumentError(`A lease lasts ${bounds}.`);
}

async function createKeyspace(
  world: VerbWorld,
  context: CliContext,
  name: string,
  options: CreateOptions,
): Promise<void> {
  const settings = settingsOf(name, options);
  const splitKeys = readSplitKeys(splitTextOf(options, context), options.kind);
  await withConnection(world, context, async ({ client }, call) => {
    const keyspace = await createOrResume(client, settings, splitKeys.length > 0, call);
    let { rangeCount } = keyspace;
    if (splitKeys.length > 0) {
      const defined = await client.keyspaces.defineRanges({ keyspace: name, splitKeys }, call);
      ({ rangeCount } = defined);
    }
    const made = { ...keyspace, rangeCount, unownedCount: rangeCount };
    context.print({
      json: () => ({ keyspace: keyspaceJson(made) }),
      text: () =>
        `Created keyspace ${name}: ${countText(rangeCount, "range")}, leases of ` +
        `${durationToText(made.leaseDurationMs)} renewed every ` +
        `${durationToText(made.renewIntervalMs)}, ${made.leaseMode}, data ${made.dataKind}.`,
    });
  });
}

function settingsOf(name: string, options: CreateOptions): Settings {
  const { kind, hashFunction, mode, data } = options;
  if (kind === "range" && hashFunction !== undefined) {
    throw usageError(
      "--hash-function: only hash keyspaces have one",
      "add --kind hash, or leave it out",
    );
  }
  const leaseDurationMs = options.lease ?? LEASE_MS_DEFAULT;
  const renewMsMax = Math.floor(leaseDurationMs / RENEWALS_PER_LEASE);
  const renewIntervalMs = options.renew ?? renewMsMax;
  if (renewIntervalMs < RENEW_MS_MIN || renewIntervalMs > renewMsMax) {
    throw usageError(
      `--renew: with leases of ${durationToText(leaseDurationMs)} owners renew every ` +
        `${RENEW_MS_MIN}ms to ${renewMsMax}ms`,
      "give another --renew, or a longer --lease",
    );
  }
  return {
    name,
    kind,
    hashFunction: kind === "hash" ? (hashFunction ?? "given") : undefined,
    leaseMode: mode,
    dataKind: data,
    leaseDurationMs,
    renewIntervalMs,
  };
}

function splitTextOf(
  options: CreateOptions,
  context: CliContext,
): { readonly flag: string; readonly parts: readonly string[] } {
  if (options.splitAt !== undefined) {
    return { flag: "--split-at", parts: options.splitAt.split(",") };
  }
  if (options.splitFile === undefined) return { flag: "--split-at", parts: [] };
  try {
    const text = readFileSync(path.resolve(context.cwd, options.splitFile), "utf8");
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    return { flag: "--split-file", parts: lines };
  } catch (error) {
    throw usageError(`--split-file: cannot read ${options.splitFile} (${codeOf(error)})`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** If it exists with these settings and only its boundaries are still to set, goes on with it. */
async function createOrResume(
  client: Client,
  settings: Settings,
  hasSplitKeys: boolean,
  call: CallOptions,
): Promise<KeyspaceRecord> {
  try {
    const { keyspace } = await client.keyspaces.createKeyspace(settings, call);
    return keyspace;
  } catch (error) {
    const exists = error instanceof CoordinationError && error.reason === "ALREADY_EXISTS";
    if (!exists || !hasSplitKeys) throw error;
    const { keyspaces } = await listAllKeyspaces(client, call);
    const found = keyspaces.find((keyspace) => keyspace.name === settings.name);
    if (found === undefined || found.rangeCount > 1 || !hasSettings(found, settings)) throw error;
    return found;
  }
}

function hasSettings(keyspace: KeyspaceRecord, settings: Settings): boolean {
  return Object.entries(settings).every(
    ([field, value]) => keyspace[field as keyof Settings] === value,
  );
}

async function listKeyspaces(world: VerbWorld, context: CliContext): Promise<void> {
  await withConnection(world, context, async ({ client }, call) => {
    const { header, keyspaces } = await listAllKeyspaces(client, call);
    context.print({
      json: () => ({ header: headerJson(header), keyspaces: keyspaces.map(keyspaceJson) }),
      text: () =>
        tableLines(KEYSPACE_COLUMNS, keyspaces.map(keyspaceRow), {
          color: context.options.color,
        }).join("\n"),
    });
    if (keyspaces.length === 0) context.note("There is no keyspace: cadastre keyspace create NAME");
  });
}

export function keyspaceRow(keyspace: KeyspaceRecord): string[] {
  const { kind, hashFunction } = keyspace;
  return [
    keyspace.name,
    hashFunction === undefined ? kind : `${kind}, ${hashFunction}`,
    groupDigits(keyspace.rangeCount),
    groupDigits(keyspace.unownedCount),
    durationToText(keyspace.leaseDurationMs),
    durationToText(keyspace.renewIntervalMs),
    keyspace.leaseMode,
    keyspace.dataKind,
    keyspace.state,
  ];
}
