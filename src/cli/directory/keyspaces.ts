// The keyspaces as the verbs need them: all pages, one by its name with a hint when it is
// misspelt, and the only one when none is named.
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { nearMiss } from "../../server/config/near-miss.ts";
import type { Header, KeyspaceRecord } from "../../wire/api.ts";
import { EXIT } from "../../wire/errors.ts";
import { CliError, usageError } from "../failure.ts";

const NAMES_SHOWN_MAX = 10;

export interface AllKeyspaces {
  readonly header: Header;
  readonly keyspaces: readonly KeyspaceRecord[];
}

export async function listAllKeyspaces(
  client: Client,
  options: CallOptions,
): Promise<AllKeyspaces> {
  const first = await client.keyspaces.listKeyspaces({}, options);
  const keyspaces = [...first.keyspaces];
  let pageToken = first.nextPageToken;
  while (pageToken !== "") {
    const page = await client.keyspaces.listKeyspaces({ pageToken }, options);
    keyspaces.push(...page.keyspaces);
    pageToken = page.nextPageToken;
  }
  return { header: first.header, keyspaces };
}

/** The keyspace of this name; undefined means the only one. */
export async function findKeyspace(
  client: Client,
  name: string | undefined,
  options: CallOptions,
): Promise<KeyspaceRecord> {
  const { keyspaces } = await listAllKeyspaces(client, options);
  const [only, ...others] = keyspaces;
  if (name !== undefined) {
    const found = keyspaces.find((keyspace) => keyspace.name === name);
    if (found !== undefined) return found;
    throw noSuchKeyspace(name, keyspaces);
  }
  if (only === undefined) {
    throw new CliError({
      message: "there is no keyspace yet",
      remedy: "make one: cadastre keyspace create NAME",
      exit: EXIT.notFound,
    });
  }
  if (others.length === 0) return only;
  throw usageError(
    `there are ${keyspaces.length} keyspaces`,
    `name one with --keyspace: ${namesText(keyspaces)}`,
  );
}

function noSuchKeyspace(name: string, keyspaces: readonly KeyspaceRecord[]): CliError {
  const meant = nearMiss(
    name,
    keyspaces.map((keyspace) => keyspace.name),
  );
  const remedy =
    meant === undefined ? `there are: ${namesText(keyspaces)}` : `did you mean ${meant}?`;
  return new CliError({
    message: `there is no keyspace "${name}"`,
    remedy: keyspaces.length === 0 ? `make it: cadastre keyspace create ${name}` : remedy,
    exit: EXIT.notFound,
  });
}

function namesText(keyspaces: readonly KeyspaceRecord[]): string {
  const names = keyspaces.slice(0, NAMES_SHOWN_MAX).map((keyspace) => keyspace.name);
  const more = keyspaces.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}
