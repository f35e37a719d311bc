// Every setting that the environment or a flag can give, in one table: path, variable, flag. The
// file may give all of them, too. Loads nothing, because the CLI reads it for every command line.

export interface Setting {
  /** Dotted path in the configuration. */
  readonly path: string;
  /** Environment variable. */
  readonly variable: string;
  /** Flag of `cadastre serve` without the dashes, for the settings that have one. */
  readonly flag?: string;
  readonly kind: "text" | "number" | "yaml";
  readonly help: string;
}

export const SETTINGS: readonly Setting[] = [
  setting("server.id", "number", "id of this server, from 1", "id"),
  setting("server.dataDir", "text", "folder for this server's data", "data-dir"),
  setting("listen.grpc", "text", "host:port for clients", "grpc"),
  setting("listen.peer", "text", "host:port for the other servers", "peer"),
  setting("listen.http", "text", "host:port for health and metrics", "http"),
  setting("cluster.name", "text", "name of the cluster", "cluster-name"),
  setting("cluster.id", "text", "id of the cluster, 32 hex digits", "cluster-id"),
  setting("cluster.servers", "yaml", "all servers, as a YAML or JSON list"),
  setting("log.level", "text", "debug, info, warn or error", "log-level"),
  setting("log.format", "text", "pretty or json", "log"),
  setting("raft.tickMs", "number", "length of a tick in ms"),
  setting("raft.electionTimeoutTicksMin", "number", "shortest election timeout in ticks"),
  setting("raft.electionTimeoutTicksMax", "number", "longest election timeout in ticks"),
  setting("raft.heartbeatTicks", "number", "ticks between heartbeats"),
  setting("storage.checkpointBytesMin", "number", "bytes of log between two checkpoints"),
  setting("storage.logTrailingBytes", "number", "bytes of log kept behind a checkpoint"),
  setting("storage.snapshotBytesPerSecond", "number", "how fast snapshots are sent, in bytes"),
  setting("shards", "number", "metadata shards that a first start makes"),
];

function setting(path: string, kind: Setting["kind"], help: string, flag?: string): Setting {
  const words = path.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll(".", "_");
  const variable = `CADASTRE_${words.toUpperCase()}`;
  return { path, variable, kind, help, ...(flag === undefined ? {} : { flag }) };
}
