// Which servers a verb talks to: `--endpoints`, else CADASTRE_ENDPOINTS, else the development
// cluster that runs here: `.cadastre/cluster.json` in the working folder or one above it, then in
// the folder of this package. A file whose processes are all gone does not count.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../wire/errors.ts";
import { parseEndpoints } from "./arguments.ts";
import type { CliContext } from "./context.ts";
import { readClusterFile, runningServers, type ClusterFile } from "./dev/cluster-file.ts";
import { isRunning } from "./dev/processes.ts";
import { CliError, usageError } from "./failure.ts";

const FOLDER = ".cadastre";

export interface LocalCluster {
  /** The folder that holds cluster.json. */
  readonly folder: string;
  readonly file: ClusterFile;
}

/** The gRPC addresses, "host:port", or a one-line failure that says how to start a cluster. */
export function findEndpoints(context: CliContext): readonly string[] {
  const given = givenEndpoints(context);
  if (given !== undefined) return given;
  const local = findLocalCluster(context.cwd);
  if (local === undefined) throw noClusterError("no cluster runs here, and no servers were given");
  return local.file.servers.map(({ grpc }) => grpc);
}

/** Of the flag or the environment; undefined when neither says anything. */
export function givenEndpoints(context: CliContext): readonly string[] | undefined {
  const { endpoints } = context.options;
  if (endpoints !== undefined) return endpoints;
  const variable = context.env["CADASTRE_ENDPOINTS"] ?? "";
  if (variable === "") return undefined;
  try {
    return parseEndpoints(variable);
  } catch (error) {
    throw usageError(`CADASTRE_ENDPOINTS: ${error instanceof Error ? error.message : "unusable"}`);
  }
}

/** The nearest cluster of which a process is alive. */
export function findLocalCluster(
  cwd: string,
  packageRoot: string = PACKAGE_ROOT,
): LocalCluster | undefined {
  for (const folder of [...foldersUpFrom(cwd), packageRoot]) {
    const local = runningClusterIn(path.join(folder, FOLDER));
    if (local !== undefined) return local;
  }
  return undefined;
}

/** Counts when a server runs, or the launcher that can start them again. */
export function runningClusterIn(folder: string): LocalCluster | undefined {
  const file = readClusterFile(folder);
  if (file === undefined) return undefined;
  const { launcher } = file;
  const isLive = runningServers(file).length > 0 || (launcher !== undefined && isRunning(launcher));
  return isLive ? { folder, file } : undefined;
}

export function noClusterError(message: string): CliError {
  return new CliError({
    message,
    remedy:
      "start a local cluster with `npm start` or `npx cadastre dev`," +
      " or give --endpoints host:port",
    exit: EXIT.unavailable,
  });
}

/** Of this package, from src/cli as from dist/cli. */
export const PACKAGE_ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

function foldersUpFrom(start: string): readonly string[] {
  const folders = [path.resolve(start)];
  for (;;) {
    const last = folders.at(-1) ?? start;
    const parent = path.dirname(last);
    if (parent === last) return folders;
    folders.push(parent);
  }
}
