// The configuration from its sources: who wins, what is refused and in which words.
import { expect, test } from "vitest";
import { loadConfig, type ConfigSources } from "../../../src/server/config/load.ts";
import type { ServerConfig } from "../../../src/server/config/schema.ts";

const THREE = `
server: {id: 1, dataDir: /data}
cluster:
  name: demo
  servers:
    - {id: 2, grpc: "b:7400", peer: "b:7401", http: "b:7402"}
    - {id: 1, grpc: "127.0.0.1:7400", peer: "127.0.0.1:7401", http: "127.0.0.1:7402"}
    - {id: 3, grpc: "c:7400", peer: "c:7401", http: "c:7402"}
`;

function load(sources: Partial<ConfigSources> & { text?: string }): ReturnType<typeof loadConfig> {
  const { text, env = {}, flags = {} } = sources;
  return loadConfig({
    ...(text === undefined ? {} : { file: { name: "c.yaml", text } }),
    env,
    flags,
  });
}

function configOf(sources: Parameters<typeof load>[0]): ServerConfig {
  const loaded = load(sources);
  if (!loaded.ok) throw new Error(loaded.error.join("\n"));
  return loaded.value.config;
}

function problemsOf(sources: Parameters<typeof load>[0]): readonly string[] {
  const loaded = load(sources);
  return loaded.ok ? [] : loaded.error;
}

test("a file with the servers is enough; the rest is defaults", () => {
  expect(configOf({ text: THREE })).toEqual({
    server: { id: 1, dataDir: "/data" },
    listen: { grpc: "127.0.0.1:7400", peer: "127.0.0.1:7401", http: "127.0.0.1:7402" },
    cluster: {
      name: "demo",
      id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      isIdGiven: false,
      servers: [
        { id: 1, grpc: "127.0.0.1:7400", peer: "127.0.0.1:7401", http: "127.0.0.1:7402" },
        { id: 2, grpc: "b:7400", peer: "b:7401", http: "b:7402" },
        { id: 3, grpc: "c:7400", peer: "c:7401", http: "c:7402" },
      ],
    },
    log: { level: "info", format: "json" },
    raft: {
      tickMs: 50,
      electionTimeoutTicksMin: 12,
      electionTimeoutTicksMax: 24,
      heartbeatTicks: 1,
    },
    storage: {
      checkpointBytesMin: 4_194_304,
      logTrailingBytes: 8_388_608,
      snapshotBytesPerSecond: 33_554_432,
    },
    shards: 1,
  });
});

test("flags win over the environment, that over the file, that over the defaults", () => {
  const text = `${THREE}log: {level: warn, format: pretty}\n`;
  const env = { CADASTRE_LOG_LEVEL: "error", CADASTRE_SERVER_DATA_DIR: "/env" };
  const config = configOf({ text, env, flags: { "data-dir": "/flag" } });
  expect(config.log).toEqual({ level: "error", format: "pretty" });
  expect(config.server.dataDir).toBe("/flag");
});

test("an empty variable says nothing, and a null in the file leaves the default", () => {
  const config = configOf({
    text: `${THREE}log:\nraft: {tickMs: }\n`,
    env: { CADASTRE_LOG_LEVEL: "" },
  });
  expect([config.log.level, config.raft.tickMs]).toEqual(["info", 50]);
});

test("flags alone make a cluster of one", () => {
  const flags = {
    id: "7",
    "data-dir": "/d",
    grpc: "127.0.0.1:0",
    peer: "127.0.0.1:0",
    http: "127.0.0.1:0",
  };
  expect(configOf({ flags }).cluster.servers).toEqual([
    { id: 7, grpc: "127.0.0.1:0", peer: "127.0.0.1:0", http: "127.0.0.1:0" },
  ]);
});

test("the servers can come from the environment as a list", () => {
  const env = {
    CADASTRE_SERVER_ID: "1",
    CADASTRE_SERVER_DATA_DIR: "/d",
    CADASTRE_CLUSTER_SERVERS: '[{"id": 1, "grpc": "a:1", "peer": "a:2", "http": "a:3"}]',
  };
  expect(configOf({ env }).listen.peer).toBe("a:2");
});

test("servers with the same list derive the same cluster id, another name gives another", () => {
  const one = configOf({ text: THREE });
  const two = configOf({ text: THREE, flags: { id: "2" } });
  const other = configOf({ text: THREE, flags: { "cluster-name": "other" } });
  expect(two.cluster.id).toBe(one.cluster.id);
  expect(other.cluster.id).not.toBe(one.cluster.id);
  const given = configOf({
    text: THREE,
    flags: { "cluster-id": "0123456789abcdef0123456789abcdef" },
  });
  expect(given.cluster).toMatchObject({ id: "0123456789abcdef0123456789abcdef", isIdGiven: true });
});

test.each([
  [
    "storage: {snapshotBytesPerSecond: 1000}",
    "storage.snapshotBytesPerSecond: must be at least 262144, not 1000",
  ],
  ["raft: {tickMS: 50}", "raft.tickMS: unknown key; did you mean tickMs?"],
  ["lisen: {}", "lisen: unknown key; did you mean listen?"],
  ["log: {colour: red}", "log.colour: unknown key; known are level, format"],
  ["shards: 0", "shards: must be at least 1, not 0"],
  ["shards: many", 'shards: must be a whole number, not "many"'],
  ["shards: 1.5", "shards: must be a whole number, not 1.5"],
  ["log: loud", 'log: must be an object of keys and values, not "loud"'],
  ["log: {level: loud}", 'log.level: must be one of debug, info, warn, error, not "loud"'],
  [
    "listen: {grpc: localhost}",
    "listen.grpc: must be host:port with a port from 0 to 65535, like 127.0.0.1:7400," +
      ' not "localhost"',
  ],
  [
    "raft: {electionTimeoutTicksMax: 12}",
    "raft.electionTimeoutTicksMax: must be above raft.electionTimeoutTicksMin (12), not 12",
  ],
  [
    "raft: {heartbeatTicks: 2}",
    "raft.electionTimeoutTicksMin: must be at least 10 heartbeats, 20 ticks, not 12",
  ],
  [
    "raft: {tickMs: 5}",
    "raft.electionTimeoutTicksMin: times raft.tickMs must be at least 100 ms, not 60 ms",
  ],
  [
    "raft: {tickMs: 125}",
    "raft.tickMs: two ticks must be shorter than the owners' guard time of 250 ms, not 250 ms",
  ],
  ["listen: {peer: '127.0.0.1:7400'}", "listen.peer: 127.0.0.1:7400 is already listen.grpc"],
])("%s is refused by the path of the key", (line, problem) => {
  expect(problemsOf({ text: `${THREE}${line}\n` })).toEqual([problem]);
});

test("a problem from elsewhere than the file names its source", () => {
  expect(problemsOf({ text: THREE, env: { CADASTRE_SERVER_ID: "one" } })).toEqual([
    'server.id (CADASTRE_SERVER_ID): must be a whole number, not "one"',
  ]);
  expect(problemsOf({ text: THREE, flags: { log: "xml" } })).toEqual([
    'log.format (--log): must be one of pretty, json, not "xml"',
  ]);
});

test("all problems are told at once, and what is missing with the ways to give it", () => {
  expect(problemsOf({ text: "shards: -1" })).toEqual([
    "server.id: is missing; give it in the file, by --id or CADASTRE_SERVER_ID",
    "server.dataDir: is missing; give it in the file, by --data-dir or CADASTRE_SERVER_DATA_DIR",
    "shards: must be at least 1, not -1",
  ]);
  expect(problemsOf({ flags: { id: "1", "data-dir": "/d", grpc: "127.0.0.1:1" } })).toEqual([
    "listen.peer: is missing, and so is cluster.servers",
    "listen.http: is missing, and so is cluster.servers",
  ]);
});

test("a list without this server, of two, or with an address twice is refused", () => {
  const text = `
server: {id: 9, dataDir: /data}
listen: {grpc: "127.0.0.1:1", peer: "127.0.0.1:2", http: "127.0.0.1:3"}
cluster:
  servers:
    - {id: 1, grpc: "a:1", peer: "a:2", http: "a:3"}
    - {id: 1, grpc: "b:1", peer: "a:2", http: "b:3"}
`;
  expect(problemsOf({ text })).toEqual([
    "cluster.servers: must list one, three or five servers, not 2",
    "cluster.servers: must list this server, 9; it lists 1, 1",
    "cluster.servers[1].id: id 1 is already cluster.servers[0].id",
    "cluster.servers[1].peer: a:2 is already cluster.servers[0].peer",
  ]);
});

test("a cluster id that YAML read as a number asks for quotes", () => {
  const text = "server: {id: 1, dataDir: /d}\ncluster: {id: 12345678901234567890123456789012}\n";
  const [problem] = problemsOf({ text });
  expect(problem).toContain("cluster.id: must be text; YAML reads bare digits as a number");
});

test("text that is not YAML is refused with its line", () => {
  expect(problemsOf({ text: "server: {id: 1\nlog: x: y" })[0]).toMatch(/^c\.yaml:\d+: /);
  expect(problemsOf({ text: "- 1\n" })).toEqual(["c.yaml: must hold keys and values, not a list"]);
  expect(problemsOf({ text: "a: 1\na: 2\n" })[0]).toMatch(/^c\.yaml:2: .*unique/);
});

test("listening beyond the loopback addresses without TLS is warned of", () => {
  const loaded = load({ text: THREE, flags: { grpc: "0.0.0.0:7400", http: "[::1]:7402" } });
  expect(loaded.ok && loaded.value.warnings).toEqual([
    "listen.grpc: open to the network without TLS; keep it on a network that you trust",
  ]);
});

test("a misspelt variable is warned of, a stranger's with our prefix is not", () => {
  const env = {
    CADASTRE_LISTEN_GPRC: "x:1",
    CADASTRE_SERVICE_HOST: "10.0.0.1",
    CADASTRE_DEBUG: "1",
  };
  const loaded = load({ text: THREE, env });
  expect(loaded.ok && loaded.value.warnings).toEqual([
    "CADASTRE_LISTEN_GPRC: unknown variable, ignored; did you mean CADASTRE_LISTEN_GRPC?",
  ]);
});
