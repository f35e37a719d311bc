// The folder of a development cluster: its marker, the data directories and the configuration
// files of its servers. Only a folder with the marker, or an empty one, is ever written to, and
// only what this file knows is ever deleted.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { CliError } from "../failure.ts";
import { CLUSTER_FILE } from "./cluster-file.ts";
import { numberOf, parseJson, textOf } from "../json-fields.ts";
import { LOCK_FILE } from "./lock.ts";
import { serverAddresses } from "./ports.ts";

const MARKER_FILE = "dev-cluster.json";
const FORMAT = 1;
const OWN_NAMES = /^(s[1-9]\d?|s[1-9]\d?\.yaml)$/;
export const DEFAULT_BASE_PORT = 7400;
const DEFAULT_SERVERS = 3;
const CLUSTER_NAME = "dev";

export interface Marker {
  readonly format: number;
  readonly clusterId: string;
  readonly name: string;
  readonly basePort: number;
  readonly servers: number;
}

/** Makes the folder if it is new, and refuses one that belongs to something else. */
export function claimFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new CliError({
      message: `cannot make the folder ${folder}: ${codeOf(error)}`,
      remedy: "give another one with --data-dir",
      cause: error,
    });
  }
  const names = readdirSync(folder);
  if (names.includes(MARKER_FILE) || names.every((name) => name === LOCK_FILE)) return;
  throw new CliError({
    message: `${folder} is not the folder of a development cluster, and it is not empty`,
    remedy: "give another one with --data-dir",
  });
}

/** Deletes the data of the cluster, nothing else. The caller holds the lock. */
export function emptyFolder(folder: string): void {
  for (const name of readdirSync(folder)) {
    const isOwn = OWN_NAMES.test(name) || name === CLUSTER_FILE || name === MARKER_FILE;
    if (isOwn) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

/** What the folder's cluster is, after the wishes were held against what is there already. */
export function settleMarker(
  folder: string,
  wishes: { readonly basePort: number | undefined; readonly servers: number | undefined },
): Marker {
  const kept = readMarker(folder);
  if (kept !== undefined && wishes.servers !== undefined && wishes.servers !== kept.servers) {
    throw new CliError({
      message: `${folder} holds a cluster of ${kept.servers} servers, not ${wishes.servers}`,
      remedy: `leave out --servers, or add --fresh to delete its data and start anew`,
    });
  }
  const marker = {
    format: FORMAT,
    clusterId: kept?.clusterId ?? randomBytes(16).toString("hex"),
    name: kept?.name ?? CLUSTER_NAME,
    basePort: wishes.basePort ?? kept?.basePort ?? DEFAULT_BASE_PORT,
    servers: wishes.servers ?? kept?.servers ?? DEFAULT_SERVERS,
  };
  writeFileSync(path.join(folder, MARKER_FILE), `${JSON.stringify(marker, undefined, 2)}\n`);
  return marker;
}

function readMarker(folder: string): Marker | undefined {
  const file = path.join(folder, MARKER_FILE);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new CliError({ message: `cannot read ${file}: ${codeOf(error)}`, cause: error });
  }
  const marker = markerOf(parseJson(text));
  if (marker !== undefined) return marker;
  throw new CliError({
    message: `${file} cannot be understood`,
    remedy: "add --fresh to delete the cluster's data and start anew, or use another --data-dir",
  });
}

function markerOf(value: unknown): Marker | undefined {
  const clusterId = textOf(value, "clusterId");
  const name = textOf(value, "name");
  const basePort = numberOf(value, "basePort");
  const servers = numberOf(value, "servers");
  if (numberOf(value, "format") !== FORMAT || name === undefined) return undefined;
  if (clusterId === undefined || !/^[0-9a-f]{32}$/.test(clusterId)) return undefined;
  if (basePort === undefined || servers === undefined) return undefined;
  return { format: FORMAT, clusterId, name, basePort, servers };
}

/** Writes the configuration file of each server; answers their names, in the order of ids. */
export function writeServerConfigs(
  folder: string,
  marker: Marker,
  format: "json" | "pretty",
): readonly string[] {
  const servers = serverAddresses(marker);
  return servers.map((server) => {
    const { id, grpc, peer, http } = server;
    const dataDir = path.join(folder, `s${id}`);
    const text = stringify({
      server: { id, dataDir },
      listen: { grpc, peer, http },
      cluster: { name: marker.name, id: marker.clusterId, servers },
      log: { level: "info", format },
    });
    const file = path.join(folder, `s${id}.yaml`);
    writeFileSync(file, `# Written anew at every start of \`cadastre dev\`.\n${text}`);
    return file;
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
