// docker-compose.yml, read as Compose reads it: three servers that know each other, keep their data
// apart, answer a health check, and do not run as root. Nothing here needs a container engine.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { loadConfig } from "../../src/server/config/load.ts";
import { SETTINGS } from "../../src/server/config/settings.ts";
import { run } from "../cli/run-cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      build: z.object({ context: z.string(), dockerfile: z.string() }),
      hostname: z.string(),
      ports: z.array(z.string()),
      volumes: z.array(z.string()),
      configs: z.array(z.object({ source: z.string(), target: z.string() })),
      healthcheck: z.object({ test: z.array(z.string()) }),
      environment: z.record(z.string(), z.string()),
      read_only: z.literal(true),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

const ServerConfig = z.strictObject({
  server: z.strictObject({ id: z.number().int(), dataDir: z.string() }),
  listen: z.strictObject({ grpc: z.string(), peer: z.string(), http: z.string() }),
  cluster: z.strictObject({
    name: z.string(),
    servers: z.array(
      z.strictObject({
        id: z.number().int(),
        grpc: z.string(),
        peer: z.string(),
        http: z.string(),
      }),
    ),
  }),
});

const compose = Compose.parse(parse(read("docker-compose.yml"), { merge: true }));
const services = Object.values(compose.services);
const dockerfile = read("deploy/Dockerfile");

function configOf(service: (typeof services)[number]): z.infer<typeof ServerConfig> {
  const source = service.configs[0]?.source ?? "";
  return ServerConfig.parse(parse(compose.configs[source]?.content ?? ""));
}

function distinct(values: readonly unknown[]): number {
  return new Set(values).size;
}

test("there are three servers with ids, host ports and volumes of their own", () => {
  expect(services).toHaveLength(3);
  expect(services.map((service) => configOf(service).server.id)).toEqual([1, 2, 3]);
  const hostPorts = services.flatMap(({ ports }) => ports.map((port) => port.split(":").at(-2)));
  expect(hostPorts).toHaveLength(6);
  expect(distinct(hostPorts)).toBe(6);
  const volumes = services.flatMap((service) => service.volumes.map((one) => one.split(":")[0]));
  expect(distinct(volumes)).toBe(3);
  expect(new Set(volumes)).toEqual(new Set(Object.keys(compose.volumes)));
});

test("host ports are open to this machine only, since the cluster has no TLS", () => {
  for (const port of services.flatMap(({ ports }) => ports)) {
    expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  }
});

test("each embedded config names all three servers by their host names, the same everywhere", () => {
  const [first, ...others] = services.map((service) => configOf(service).cluster);
  expect(first?.servers).toEqual(
    services.map((service, index) => ({
      id: index + 1,
      grpc: `${service.hostname}:7400`,
      peer: `${service.hostname}:7401`,
      http: `${service.hostname}:7402`,
    })),
  );
  for (const other of others) expect(other).toEqual(first);
  const endpoints = first?.servers.map(({ grpc }) => grpc).join(",");
  for (const { environment } of services) {
    expect(environment["CADASTRE_ENDPOINTS"]).toBe(endpoints);
  }
});

test("a server takes its embedded config and its environment as they are", () => {
  for (const { configs, environment } of services) {
    const source = configs[0]?.source ?? "";
    const text = compose.configs[source]?.content ?? "";
    const loaded = loadConfig({ file: { name: source, text }, env: environment, flags: {} });
    if (!loaded.ok) throw new Error(loaded.error.join("\n"));
    expect(loaded.value.config.cluster.servers).toHaveLength(3);
    expect(loaded.value.warnings).toEqual([expect.stringContaining("without TLS")]);
  }
});

test("the image's command gives flags that serve has, and holds all that the binary loads", async () => {
  const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "";
  const words = z.array(z.string()).parse(JSON.parse(command));
  const help = await run(["serve", "--help"], COMMANDS);
  for (const flag of words.filter((word) => word.startsWith("--"))) {
    expect(help.stdout).toContain(`${flag} `);
  }
  for (const { flag } of SETTINGS)
    if (flag !== undefined) expect(help.stdout).toContain(`--${flag} `);
  expect(dockerfile).toContain("COPY --from=build /app/src/cli/*.cjs src/cli/");
  const required = [...read("src/cli/cadastre.cjs").matchAll(/require\("(\.[^"]+)"\)/g)];
  for (const [, file = ""] of required) expect(file).toMatch(/^\.\/[a-z-]+\.cjs$/);
});

test("a server keeps its data on its volume, and reads the config that its command names", () => {
  const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "";
  const words = z.array(z.string()).parse(JSON.parse(command));
  for (const service of services) {
    expect(service.volumes[0]?.split(":")[1]).toBe(configOf(service).server.dataDir);
    expect(words).toEqual(["serve", "--config", service.configs[0]?.target]);
  }
});

test("the health check asks for readiness on the port that the server listens on", () => {
  for (const service of services) {
    const port = configOf(service).listen.http.split(":")[1];
    expect(service.healthcheck.test.join(" ")).toContain(`http://127.0.0.1:${port}/readyz`);
  }
});

test("the image is built from files that exist, and its process is not root", () => {
  for (const { build } of services) {
    expect(existsSync(path.join(root, build.context, build.dockerfile))).toBe(true);
  }
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
    (match[1] ?? "").split(" "),
  );
  expect(copied.length).toBeGreaterThan(4);
  const sent = read(".dockerignore").split("\n");
  for (const file of copied) {
    expect(existsSync(path.join(root, file)), file).toBe(true);
    expect(sent).toContain(`!${file}`);
  }
  expect(
    dockerfile
      .trimEnd()
      .split("\n")
      .findLast((line) => line.startsWith("USER")),
  ).toBe("USER 65532:65532");
});
