// The shape of a server's configuration, its bounds and its defaults. Unknown keys are refused by
// load.ts, which also merges the sources and names the source in every error.
import { z } from "zod";

/** Ports of 0 (any free one) are for tests and only where this server listens itself. */
const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?):(\d{1,5})$/;
const PORT_MAX = 65_535;
const SERVER_ID_MAX = 2 ** 31 - 1;
/** More metadata shards than a server can host; a first bound, not a promise. */
const SHARDS_MAX = 64;

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export const LOG_FORMATS = ["pretty", "json"] as const;

/** The sources merged and checked, before the relations between the values are. */
export interface MergedConfig {
  readonly server: { readonly id: number; readonly dataDir: string };
  readonly listen: Partial<Record<keyof ServerAddresses, string | undefined>>;
  readonly cluster: {
    readonly name: string;
    readonly id?: string | undefined;
    readonly servers?: readonly ClusterServer[] | undefined;
  };
  readonly log: ServerConfig["log"];
  readonly raft: ServerConfig["raft"];
  readonly storage: ServerConfig["storage"];
  readonly shards: number;
}

export type ServerAddresses = {
  readonly grpc: string;
  readonly peer: string;
  readonly http: string;
};

export type ClusterServer = { readonly id: number } & ServerAddresses;

/** Complete and consistent; what a server starts from. */
export interface ServerConfig {
  readonly server: { readonly id: number; readonly dataDir: string };
  /** Where this server listens, "host:port". */
  readonly listen: ServerAddresses;
  readonly cluster: {
    readonly name: string;
    /** 32 hex digits. A data directory that has an id of its own must have this one. */
    readonly id: string;
    /** False: derived from name and servers, because the configuration gave none. */
    readonly isIdGiven: boolean;
    /** One, three or five, this one among them, ascending by id. */
    readonly servers: readonly ClusterServer[];
  };
  readonly log: {
    readonly level: (typeof LOG_LEVELS)[number];
    readonly format: (typeof LOG_FORMATS)[number];
  };
  readonly raft: {
    readonly tickMs: number;
    readonly electionTimeoutTicksMin: number;
    readonly electionTimeoutTicksMax: number;
    readonly heartbeatTicks: number;
  };
  readonly storage: {
    /** Bytes of entries between two checkpoints of a group, or its state's if that is larger. */
    readonly checkpointBytesMin: number;
    /** Bytes of entries that a group keeps behind a checkpoint, for servers that lag a little. */
    readonly logTrailingBytes: number;
    /** At most so fast are snapshots sent to other servers, all of them together. */
    readonly snapshotBytesPerSecond: number;
  };
  /** Metadata shards that a first start makes, beside the root. */
  readonly shards: number;
}

const KIB = 1_024;
const GIB = 1_073_741_824;

/**
 * What holds when no source says anything. Elections after 0.6 to 1.2 s. A restart replays at most
 * the entries of one checkpoint interval, and memory holds as many beside the trailing ones. While
 * states are smaller than 4 MiB that is 4 MiB: one to two seconds' work if all of it are renewals
 * and single grants, the smallest there are. A checkpoint is a small fraction of that.
 */
export const CONFIG_DEFAULTS = {
  server: {},
  listen: {},
  cluster: { name: "cadastre" },
  log: { level: "info", format: "json" },
  raft: { tickMs: 50, electionTimeoutTicksMin: 12, electionTimeoutTicksMax: 24, heartbeatTicks: 1 },
  storage: {
    checkpointBytesMin: 4_194_304,
    logTrailingBytes: 8_388_608,
    snapshotBytesPerSecond: 33_554_432,
  },
  shards: 1,
} as const;

const QUOTE_IT = "must be text; YAML reads bare digits as a number, so put it in quotes";

const serverIdSchema = z.int().min(1).max(SERVER_ID_MAX);

const clusterServerSchema = z.strictObject({
  id: serverIdSchema,
  grpc: addressFrom(1),
  peer: addressFrom(1),
  http: addressFrom(1),
});

const schema = z.strictObject({
  server: z.strictObject({ id: serverIdSchema, dataDir: z.string().min(1) }),
  listen: z.strictObject({
    grpc: addressFrom(0).optional(),
    peer: addressFrom(0).optional(),
    http: addressFrom(0).optional(),
  }),
  cluster: z.strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "must be a-z, 0-9 and -, at most 63 long"),
    id: z
      .string(QUOTE_IT)
      .regex(/^[0-9a-f]{32}$/, "must be 32 hex digits in lower case")
      .optional(),
    servers: z.array(clusterServerSchema).min(1).optional(),
  }),
  log: z.strictObject({ level: z.enum(LOG_LEVELS), format: z.enum(LOG_FORMATS) }),
  raft: z.strictObject({
    tickMs: z.int().min(5).max(1_000),
    electionTimeoutTicksMin: z.int().min(1).max(1_000),
    electionTimeoutTicksMax: z.int().min(2).max(2_000),
    heartbeatTicks: z.int().min(1).max(100),
  }),
  storage: z.strictObject({
    checkpointBytesMin: z
      .int()
      .min(KIB)
      .max(4 * GIB),
    logTrailingBytes: z
      .int()
      .min(0)
      .max(4 * GIB),
    // A chunk of a snapshot must come well before its receiver takes the sender for silent.
    snapshotBytesPerSecond: z
      .int()
      .min(256 * KIB)
      .max(4 * GIB),
  }),
  shards: z.int().min(1).max(SHARDS_MAX),
});

export const configSchema: z.ZodType<MergedConfig> = schema;

/** The keys that may stand at a path of the configuration; none where no object may stand. */
export function knownKeysAt(path: readonly PropertyKey[]): readonly string[] {
  let at: z.ZodType = schema;
  for (const part of path) {
    const next = bare(at);
    if (next instanceof z.ZodArray) at = next.element as z.ZodType;
    else if (next instanceof z.ZodObject) at = (next.shape as Shape)[String(part)] ?? z.never();
    else return [];
  }
  const object = bare(at);
  return object instanceof z.ZodObject ? Object.keys(object.shape as Shape) : [];
}

type Shape = Readonly<Record<string, z.ZodType>>;

function bare(type: z.ZodType): z.ZodType {
  return type instanceof z.ZodOptional ? (type.unwrap() as z.ZodType) : type;
}

function addressFrom(portMin: number): z.ZodString {
  return z.string().refine((text) => {
    const [, port] = ADDRESS.exec(text) ?? [];
    return port !== undefined && Number(port) >= portMin && Number(port) <= PORT_MAX;
  }, `must be host:port with a port from ${portMin} to ${PORT_MAX}, like 127.0.0.1:7400`);
}

/** Splits "host:port"; an IPv6 host loses its brackets. For text that the schema has accepted. */
export function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(address.slice(at + 1)) };
}
