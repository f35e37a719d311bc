// cluster.json: how other commands find a running development cluster. It is there from when the
// cluster is ready until it stops; after a crash it may be left behind, so readers check that a
// process it names is alive. Only the owner may read it: it holds the launcher's token.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fieldOf, numberOf, parseJson, textOf } from "../json-fields.ts";
import { isRunning, type ProcessRef } from "./processes.ts";

export const CLUSTER_FILE = "cluster.json";

/** The process is the one that runs or ran last. */
export interface ClusterServerEntry extends ProcessRef {
  readonly id: number;
  readonly grpc: string;
  readonly peer: string;
  readonly http: string;
  /** How it ended, when it does not run: "SIGKILL", "exit code 1". */
  readonly ended?: string;
}

export interface ClusterFile {
  readonly servers: readonly ClusterServerEntry[];
  readonly cluster: { readonly id: string; readonly name: string };
  /** Undefined when somebody else wrote the file. */
  readonly launcher: LauncherEntry | undefined;
}

export interface LauncherEntry extends ProcessRef {
  /** "127.0.0.1:port" of its control endpoint. */
  readonly control: string;
  readonly token: string;
}

/** Undefined when there is none, or none that can be read. */
export function readClusterFile(folder: string): ClusterFile | undefined {
  try {
    return clusterFileOf(parseJson(readFileSync(path.join(folder, CLUSTER_FILE), "utf8")));
  } catch {
    return undefined;
  }
}

/** Readers see the old file or the new one, whole. */
export function writeClusterFile(folder: string, file: ClusterFile): void {
  const target = path.join(folder, CLUSTER_FILE);
  const fresh = `${target}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, target);
}

export function removeClusterFile(folder: string): void {
  rmSync(path.join(folder, CLUSTER_FILE), { force: true });
}

/** The servers whose processes are alive, stopped ones included. */
export function runningServers(file: ClusterFile): readonly ClusterServerEntry[] {
  return file.servers.filter((server) => server.ended === undefined && isRunning(server));
}

function clusterFileOf(value: unknown): ClusterFile | undefined {
  const list = fieldOf(value, "servers");
  if (!Array.isArray(list)) return undefined;
  const servers = (list as readonly unknown[]).flatMap((entry) => serverOf(entry) ?? []);
  if (servers.length === 0 || servers.length !== list.length) return undefined;
  const cluster = fieldOf(value, "cluster");
  return {
    servers,
    cluster: { id: textOf(cluster, "id") ?? "", name: textOf(cluster, "name") ?? "" },
    launcher: launcherOf(fieldOf(value, "launcher")),
  };
}

function serverOf(value: unknown): ClusterServerEntry | undefined {
  const [id, pid] = [numberOf(value, "id"), numberOf(value, "pid")];
  const [grpc, peer, http] = [textOf(value, "grpc"), textOf(value, "peer"), textOf(value, "http")];
  if (id === undefined || pid === undefined) return undefined;
  if (grpc === undefined || peer === undefined || http === undefined) return undefined;
  const startMark = textOf(value, "startMark") ?? "";
  const ended = textOf(value, "ended");
  return { id, grpc, peer, http, pid, startMark, ...(ended === undefined ? {} : { ended }) };
}

function launcherOf(value: unknown): LauncherEntry | undefined {
  const [pid, control, token] = [
    numberOf(value, "pid"),
    textOf(value, "control"),
    textOf(value, "token"),
  ];
  if (pid === undefined || control === undefined || token === undefined) return undefined;
  return { pid, startMark: textOf(value, "startMark") ?? "", control, token };
}
