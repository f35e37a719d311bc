import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publicServices } from "../../../src/wire/methods.ts";
import { DescriptorSet } from "../../../src/wire/standard/descriptor-set.ts";
import { parseProtoSource, readProtoSources } from "../../../src/wire/standard/proto-source.ts";
import { publicDescriptors } from "../../../src/wire/standard/reflection.ts";
import { RealCluster, ROOT } from "../support/real-cluster.ts";
import { findPython, startScript } from "./python.ts";

const PROTO = path.join(ROOT, "proto");
const FIXTURES = path.join(ROOT, "test/fixtures/protos");
const FIXTURE = "every-feature.proto";

let python = "";
let directory = "";
let cluster: RealCluster | undefined;

beforeAll(async () => {
  python = await findPython();
  directory = await mkdtemp(path.join(tmpdir(), "cadastre-descriptors-"));
});

afterAll(async () => {
  await cluster?.stop();
  if (directory !== "") await rm(directory, { recursive: true });
});

/** Has protoc's descriptors compared with ours. */
async function describe(set: DescriptorSet, folder: string): Promise<unknown> {
  for (const name of set.fileNames) {
    const file = path.join(directory, folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, set.withImports(name)?.[0] ?? "");
  }
  const args = ["describe", path.join(directory, folder), PROTO, FIXTURES];
  const [result] = await startScript(python, args).done;
  return result;
}

test("the descriptors of every public proto file are those that protoc makes", async () => {
  const set = publicDescriptors();
  expect(set.fileNames.length).toBeGreaterThan(10);
  expect(await describe(set, "public")).toEqual({
    files: set.fileNames.toSorted((a, b) => (a < b ? -1 : 1)),
    differences: [],
  });
});

test("so are those of a file with everything that we describe and do not use yet", async () => {
  const text = await readFile(path.join(FIXTURES, FIXTURE), "utf8");
  const fixture = parseProtoSource(FIXTURE, text);
  const set = new DescriptorSet([...readProtoSources(fixture.imports), fixture]);
  expect(await describe(set, "fixture")).toMatchObject({ differences: [] });
});

interface Seen {
  readonly package: string;
  readonly services: string[];
  readonly methods: Record<string, Record<string, [string, string]>>;
  readonly symbols: Record<string, string | string[]>;
  readonly files: Record<string, string | string[]>;
}

const DIRECTORY = ["cadastre/v1/directory.proto", "cadastre/v1/common.proto"];
const HEALTH = ["grpc/health/v1/health.proto"];
const REFLECTION = ["grpc/reflection/v1/reflection.proto"];
const DETAILS = ["google/rpc/error_details.proto", "google/protobuf/duration.proto"];

test("a client without proto files finds everything that the port serves by both reflection services, and nothing of the peer port", async () => {
  cluster = await RealCluster.start(1);
  const address = cluster.endpoints[0] ?? "";
  const seen = (await startScript(python, ["reflect", address, PROTO]).done) as Seen[];
  expect(seen.map((one) => one.package)).toEqual(["grpc.reflection.v1", "grpc.reflection.v1alpha"]);
  for (const one of seen) {
    expect(one.services).toEqual(
      [
        ...publicServices(),
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    expect(Object.keys(one.methods)).toEqual(one.services);
    expect(one.methods["cadastre.v1.Directory"]).toMatchObject({
      Lookup: ["cadastre.v1.LookupRequest", "cadastre.v1.LookupResponse"],
    });
    expect(one.symbols).toEqual({
      "cadastre.v1.Directory": DIRECTORY,
      "cadastre.v1.Directory.Lookup": DIRECTORY,
      "cadastre.v1.LookupRequest": DIRECTORY,
      "cadastre.v1.LookupRequest.keyspace": DIRECTORY,
      "cadastre.v1.Reason": ["cadastre/v1/errors.proto"],
      "cadastre.v1.NOT_OWNER": ["cadastre/v1/errors.proto"],
      "google.rpc.BadRequest.FieldViolation": DETAILS,
      "google.rpc.ErrorInfo.MetadataEntry": DETAILS,
      "grpc.health.v1.HealthCheckResponse.ServingStatus": HEALTH,
      "grpc.health.v1.HealthCheckResponse.SERVING": HEALTH,
      "grpc.reflection.v1.ServerReflectionRequest.message_request": REFLECTION,
      "cadastre.v1": "NOT_FOUND",
      "cadastre.v1.Nothing": "NOT_FOUND",
      ".cadastre.v1.Directory": "NOT_FOUND",
      "cadastre.peer.v1.Peer": "NOT_FOUND",
      "cadastre.peer.v1.Hello": "NOT_FOUND",
      "": "NOT_FOUND",
    });
    expect(one.files).toEqual({
      "cadastre/v1/directory.proto": DIRECTORY,
      "google/rpc/status.proto": ["google/rpc/status.proto", "google/protobuf/any.proto"],
      "cadastre/peer/v1/peer.proto": "NOT_FOUND",
      "../../package.json": "NOT_FOUND",
      "": "NOT_FOUND",
    });
    expect(one).toMatchObject({
      extension: "NOT_FOUND",
      extensionNumbers: { "cadastre.v1.Route": [] },
      extensionNumbersOfNothing: "NOT_FOUND",
      nothingAsked: "UNIMPLEMENTED",
      differences: [],
      calls: {
        clusterName: "test",
        error: {
          code: "INVALID_ARGUMENT",
          details: {
            "google.rpc.ErrorInfo": { reason: "INVALID", domain: "cadastre" },
            "google.rpc.BadRequest": { fieldViolations: [{ field: "keyspace" }] },
          },
        },
      },
      end: "OK",
    });
  }
});
