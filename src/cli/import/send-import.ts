// Brings a map into a keyspace: stages its parts, which no reader sees, and switches them in with
// one commit. Whatever goes wrong before the commit leaves the keyspace as it was.
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { CoordinationError } from "../../client/errors.ts";
import type { ImportedMap } from "../../importers/imported-map.ts";
import type { CommitImportAnswer } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import { LEASE_MS_DEFAULT, NAME_CHARS_MAX, RENEWALS_PER_LEASE } from "../../wire/limits.ts";
import { listAllKeyspaces } from "../directory/keyspaces.ts";
import { isName } from "../directory/options.ts";
import { CliError, failureOf } from "../failure.ts";
import { countText, groupDigits } from "../render/table.ts";
import { importParts } from "./import-parts.ts";

const ABORT_DEADLINE_MS = 2_000;
const NAMES_SHOWN_MAX = 5;

export interface SendImportOptions {
  readonly keyspace: string;
  /** Made by the caller, never reused. */
  readonly importId: string;
  readonly call: CallOptions;
  /** Ends the import before its commit. */
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
}

export async function sendImport(
  client: Client,
  map: ImportedMap,
  options: SendImportOptions,
): Promise<CommitImportAnswer> {
  const { keyspace, importId, note } = options;
  const call = { ...options.call, signal: options.signal };
  const isNew = await ensureKeyspace(client, map, options);
  const parts = importParts(map.ranges);
  let staged = 0;
  try {
    for (const [part, rows] of parts.entries()) {
      if (options.signal.aborted) throw interrupted();
      await client.keyspaces.stageImport({ keyspace, importId, part, rows }, call);
      staged += rows.length;
      note(`staged ${groupDigits(staged)} of ${countText(map.ranges.length, "range")}`);
    }
    if (options.signal.aborted) throw interrupted();
  } catch (error) {
    throw await givenUp(client, error, options, isNew);
  }
  return commit(client, map.ranges.length, options, isNew);
}

/** Node ids are narrower than the names that other systems give to their nodes. */
export function checkOwnerIds(map: ImportedMap): void {
  const unfit = map.owners.filter(({ name }) => !isName(name)).map(({ name }) => name);
  const first = unfit[0];
  if (first === undefined) return;
  const shown = unfit.slice(0, NAMES_SHOWN_MAX).join(", ");
  const more = unfit.length > NAMES_SHOWN_MAX ? ` and ${unfit.length - NAMES_SHOWN_MAX} more` : "";
  throw new CliError({
    message:
      `${countText(unfit.length, "owner")} cannot be storage nodes, whose ids have 1 to ` +
      `${NAME_CHARS_MAX} of A-Z a-z 0-9 _ . -: ${shown}${more}`,
    remedy: `name the storage node of each: --as '${first}=NODE'`,
    exit: EXIT.usage,
  });
}

/** Made with the map's kind when it is absent, then true; an existing one must be of that kind. */
async function ensureKeyspace(
  client: Client,
  map: ImportedMap,
  options: SendImportOptions,
): Promise<boolean> {
  const { keyspaces } = await listAllKeyspaces(client, options.call);
  const found = keyspaces.find((keyspace) => keyspace.name === options.keyspace);
  if (found !== undefined) {
    if (found.kind === map.kind) return false;
    throw new CliError({
      message: `keyspace ${found.name} is of kind ${found.kind}, the map of kind ${map.kind}`,
      remedy: "import it into another keyspace",
      exit: EXIT.conflict,
    });
  }
  const { keyspace } = await client.keyspaces.createKeyspace(
    {
      name: options.keyspace,
      kind: map.kind,
      hashFunction: map.hashFunction,
      leaseMode: "exclusive",
      dataKind: "local",
      leaseDurationMs: LEASE_MS_DEFAULT,
      renewIntervalMs: Math.floor(LEASE_MS_DEFAULT / RENEWALS_PER_LEASE),
    },
    options.call,
  );
  options.note(`created keyspace ${keyspace.name}, kind ${keyspace.kind}`);
  return true;
}

async function commit(
  client: Client,
  rowCount: number,
  options: SendImportOptions,
  isNew: boolean,
): Promise<CommitImportAnswer> {
  const { keyspace, importId, call } = options;
  try {
    return await client.keyspaces.commitImport({ keyspace, importId, rowCount }, call);
  } catch (error) {
    if (!(error instanceof CoordinationError) || error.outcome === "notApplied") {
      throw await givenUp(client, error, options, isNew);
    }
    throw new CliError({
      message: `${error.message}; the map is either wholly in or not at all`,
      remedy: `look with: cadastre range list ${keyspace} --limit 5`,
      exit: failureOf(error).exit,
      reason: error.reason,
      cause: error,
    });
  }
}

/** The failure of an import that was given up; what was staged is dropped, as far as that goes. */
async function givenUp(
  client: Client,
  error: unknown,
  options: SendImportOptions,
  isNew: boolean,
): Promise<unknown> {
  if (!(error instanceof CoordinationError) && !(error instanceof CliError)) return error;
  const cause = options.signal.aborted ? interrupted() : error;
  const isDropped = await abort(client, options);
  const { exit, reason, message, remedy } = failureOf(cause);
  const rest = isDropped
    ? "what was staged is dropped"
    : "what was staged is invisible and expires by itself in 10 min";
  return new CliError({
    message: `${message}; ${stateOf(options.keyspace, isNew)}, ${rest}`,
    ...(remedy === undefined ? {} : { remedy }),
    exit,
    reason,
    cause,
  });
}

function stateOf(keyspace: string, isNew: boolean): string {
  return isNew
    ? `keyspace ${keyspace} was made and is one unowned range`
    : `nothing changed in keyspace ${keyspace}`;
}

async function abort(client: Client, options: SendImportOptions): Promise<boolean> {
  const { keyspace, importId } = options;
  try {
    await client.keyspaces.abortImport({ keyspace, importId }, { deadlineMs: ABORT_DEADLINE_MS });
    return true;
  } catch (error) {
    if (error instanceof CoordinationError) return error.reason === "NOT_FOUND";
    throw error;
  }
}

function interrupted(): CliError {
  return new CliError({ message: "interrupted", remedy: "run it again to start over" });
}
