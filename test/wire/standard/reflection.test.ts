import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerReflectionRequest } from "../../../src/wire/generated/grpc/reflection/v1/ServerReflectionRequest.ts";
import type { ServerReflectionResponse__Output } from "../../../src/wire/generated/grpc/reflection/v1/ServerReflectionResponse.ts";
import { loadProto } from "../../../src/wire/load.ts";
import { messageIn } from "../../../src/wire/public-protos.ts";
import {
  publicDescriptors,
  REFLECTION_PATHS,
  REFLECTION_REQUEST_BYTES_MAX,
  Reflector,
} from "../../../src/wire/standard/reflection.ts";

const NOT_FOUND = 5;
const INVALID_ARGUMENT = 3;
const UNIMPLEMENTED = 12;

const loaded = loadProto("grpc/reflection/v1/reflection.proto");
const requests = messageIn<ServerReflectionRequest, ServerReflectionRequest>(
  loaded,
  "grpc.reflection.v1.ServerReflectionRequest",
);
const answers = messageIn<object, ServerReflectionResponse__Output>(
  loaded,
  "grpc.reflection.v1.ServerReflectionResponse",
);
const reflector = new Reflector(publicDescriptors(), ["b.B", "a.A"]);

function ask(request: ServerReflectionRequest): ServerReflectionResponse__Output {
  return answers.deserialize(reflector.answer(requests.serialize(request)));
}

/** How many files an answer has, or the code of its error. */
function outcome(request: ServerReflectionRequest): unknown {
  const { fileDescriptorResponse, errorResponse } = ask(request);
  return fileDescriptorResponse?.fileDescriptorProto?.length ?? errorResponse?.errorCode;
}

test("both services have one method, by the name that clients call", () => {
  expect(REFLECTION_PATHS).toEqual([
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
  ]);
});

test("requests and answers have the field numbers of the protocol", () => {
  const hex = (text: string): string => Buffer.from(text).toString("hex");
  // Field 7 of a request, list_services: "*".
  const answer = reflector.answer(Buffer.from(`3a01${hex("*")}`, "hex"));
  // Fields 2 and 6 of the answer: the request as it was understood, and the services.
  const services = `0a050a03${hex("a.A")}0a050a03${hex("b.B")}`;
  expect(answer.toString("hex")).toContain(`320e${services}`);
  expect(answers.deserialize(answer)).toMatchObject({ originalRequest: { listServices: "*" } });
  const fields: [string, unknown][] = [
    ["1a", "fileByFilename"],
    ["22", "fileContainingSymbol"],
    ["32", "allExtensionNumbersOfType"],
  ];
  for (const [tag, field] of fields) {
    const asked = answers.deserialize(reflector.answer(Buffer.from(`${tag}0178`, "hex")));
    expect(asked.originalRequest?.messageRequest, tag).toBe(field);
  }
});

test("services are listed sorted, whatever the request's text", () => {
  const service = [{ name: "a.A" }, { name: "b.B" }];
  expect(ask({ listServices: "" })).toMatchObject({ listServicesResponse: { service } });
  expect(ask({ listServices: "nonsense" })).toMatchObject({ listServicesResponse: { service } });
});

test("an answer repeats the host and the request, and holds one thing", () => {
  const request = { host: "somewhere", fileByFilename: "google/rpc/status.proto" };
  const answer = ask(request);
  expect(answer).toMatchObject({ validHost: "somewhere", originalRequest: request });
  expect(answer.messageResponse).toBe("fileDescriptorResponse");
  expect(ask({ ...request, fileByFilename: "no.proto" })).toMatchObject({
    validHost: "somewhere",
    originalRequest: { host: "somewhere", fileByFilename: "no.proto" },
    messageResponse: "errorResponse",
    errorResponse: { errorCode: NOT_FOUND, errorMessage: 'no proto file "no.proto" is served' },
  });
});

test("files are found by name and by symbol, with what they import", () => {
  expect(outcome({ fileByFilename: "cadastre/v1/common.proto" })).toBe(1);
  expect(outcome({ fileByFilename: "cadastre/v1/ownership.proto" })).toBe(2);
  expect(outcome({ fileContainingSymbol: "cadastre.v1.Ownership.Renew" })).toBe(2);
  expect(outcome({ fileContainingSymbol: "cadastre.v1.Nothing" })).toBe(NOT_FOUND);
  expect(outcome({ fileByFilename: "cadastre/peer/v1/peer.proto" })).toBe(NOT_FOUND);
});

test("there are no extensions: none is found, and every message type has none", () => {
  const containingType = "cadastre.v1.Route";
  const extension = { containingType, extensionNumber: 1 };
  expect(outcome({ fileContainingExtension: extension })).toBe(NOT_FOUND);
  expect(ask({ allExtensionNumbersOfType: containingType })).toMatchObject({
    allExtensionNumbersResponse: { baseTypeName: containingType, extensionNumber: [] },
  });
  expect(outcome({ allExtensionNumbersOfType: "cadastre.v1.Directory" })).toBe(NOT_FOUND);
});

test("a request of a kind that is not known here, and one that is none, get an error as the answer", () => {
  expect(outcome({ host: "h" })).toBe(UNIMPLEMENTED);
  const torn = answers.deserialize(reflector.answer(Buffer.from("3aff", "hex")));
  expect(torn.errorResponse).toMatchObject({ errorCode: INVALID_ARGUMENT });
});

test("a request above the limit is not repeated in its answer (law 33)", () => {
  const symbol = "x".repeat(REFLECTION_REQUEST_BYTES_MAX);
  const bytes = reflector.answer(requests.serialize({ fileContainingSymbol: symbol }));
  expect(bytes.length).toBeLessThan(200);
  expect(answers.deserialize(bytes)).toMatchObject({
    originalRequest: null,
    errorResponse: { errorCode: INVALID_ARGUMENT },
  });
});

test("any bytes get an answer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const answer = answers.deserialize(reflector.answer(Buffer.from(bytes)));
      expect(answer.messageResponse).toBeDefined();
    }),
  );
});
