// What is printed when the cluster is ready: addresses, folder, process ids, and three commands
// that can be copied as they stand.
import { existsSync } from "node:fs";
import path from "node:path";
import { findLocalCluster, PACKAGE_ROOT } from "../local-cluster.ts";
import type { ClusterServerEntry } from "./cluster-file.ts";

export function readyWords(args: {
  readonly name: string;
  readonly folder: string;
  readonly servers: readonly ClusterServerEntry[];
  readonly tookMs: number;
  readonly command: string;
  /** Empty when the cluster is found without. */
  readonly endpointsFlag: string;
}): string {
  const { servers, command, endpointsFlag } = args;
  const count = serverCount(servers.length);
  return [
    `cluster "${args.name}" is ready: ${count} in ${(args.tookMs / 1_000).toFixed(1)} s`,
    ...servers.map(
      ({ id, grpc, peer, http, pid }) =>
        `  s${id}  grpc ${grpc}  peer ${peer}  http http://${http}  pid ${pid}`,
    ),
    `  data  ${args.folder}`,
    "Try in another terminal:",
    ...["status", "keyspace create demo", "watch"].map(
      (verb) => `  ${command} ${verb}${endpointsFlag}`,
    ),
    "Ctrl-C stops the cluster; the data stay.",
  ].join("\n");
}

export function serverCount(count: number): string {
  return count === 1 ? "1 server" : `${count} servers`;
}

/** Whether a verb that is started in the same place finds this very cluster by itself. */
export function isFoundFrom(cwd: string, folder: string): boolean {
  const found = findLocalCluster(cwd);
  return found !== undefined && path.resolve(found.folder) === path.resolve(folder);
}

/** How the user runs this binary: by its name when installed, by npx in the package, else whole. */
export function commandWords(args: { readonly script: string; readonly cwd: string }): string {
  const inside = !path.relative(PACKAGE_ROOT, args.cwd).startsWith("..");
  if (inside || existsSync(path.join(args.cwd, "node_modules/.bin/cadastre")))
    return "npx cadastre";
  if (path.basename(args.script) === "cadastre") return "cadastre";
  return `node ${quoted(path.join(PACKAGE_ROOT, "src/cli/cadastre.cjs"))}`;
}

export function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
