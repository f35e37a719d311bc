/**
 * gRPC's server reflection (grpc.reflection.v1, and v1alpha, which has the same messages): clients
 * without proto files ask for descriptors. One request in, one answer out, and every error is an
 * answer. The descriptors are all that this port serves, and nothing of the peer port.
 */

import { status } from "@grpc/grpc-js";
import type {
  ServerReflectionRequest,
  ServerReflectionRequest__Output,
} from "../generated/grpc/reflection/v1/ServerReflectionRequest.ts";
import type {
  ServerReflectionResponse,
  ServerReflectionResponse__Output,
} from "../generated/grpc/reflection/v1/ServerReflectionResponse.ts";
import { loadProto } from "../load.ts";
import { messageIn, PUBLIC_PROTO_FILES, type Serializer, serviceIn } from "../public-protos.ts";
import { DescriptorSet } from "./descriptor-set.ts";
import { HEALTH_PROTO_FILE } from "./health.ts";

const V1 = "grpc/reflection/v1/reflection.proto";
const V1_ALPHA = "grpc/reflection/v1alpha/reflection.proto";
const METHOD = "ServerReflectionInfo";

/** Of a request. The longest name that is declared has a hundred. */
export const REFLECTION_REQUEST_BYTES_MAX: number = 16 * 1024;

const v1 = loadProto(V1);
const requestProto: Serializer<ServerReflectionRequest, ServerReflectionRequest__Output> =
  messageIn(v1, "grpc.reflection.v1.ServerReflectionRequest");
const answerProto: Serializer<ServerReflectionResponse, ServerReflectionResponse__Output> =
  messageIn(v1, "grpc.reflection.v1.ServerReflectionResponse");

/** Both names of the one method. */
export const REFLECTION_PATHS: readonly string[] = [
  serviceIn(v1, "grpc.reflection.v1.ServerReflection"),
  serviceIn(loadProto(V1_ALPHA), "grpc.reflection.v1alpha.ServerReflection"),
].flatMap((service) => service[METHOD]?.path ?? []);

/** The descriptors of everything that the public port serves or attaches to errors. */
export function publicDescriptors(): DescriptorSet {
  return DescriptorSet.of([...PUBLIC_PROTO_FILES, HEALTH_PROTO_FILE, V1, V1_ALPHA]);
}

type Answer = Omit<ServerReflectionResponse, "validHost" | "originalRequest">;

/** Answers requests from descriptors. `services` are the full names of those that are served. */
export class Reflector {
  readonly #descriptors: DescriptorSet;
  readonly #services: readonly string[];

  constructor(descriptors: DescriptorSet, services: readonly string[]) {
    this.#descriptors = descriptors;
    this.#services = services.toSorted((a, b) => (a < b ? -1 : 1));
  }

  /** Total: bytes that are no request get an answer, too. */
  answer(bytes: Buffer): Buffer {
    if (bytes.length > REFLECTION_REQUEST_BYTES_MAX) {
      const text = `the request has ${bytes.length} bytes, at most ${REFLECTION_REQUEST_BYTES_MAX}`;
      return answerProto.serialize(error(status.INVALID_ARGUMENT, text));
    }
    let request: ServerReflectionRequest__Output;
    try {
      request = requestProto.deserialize(bytes);
    } catch {
      const text = "the request is not a ServerReflectionRequest";
      return answerProto.serialize(error(status.INVALID_ARGUMENT, text));
    }
    const answer = this.#answerTo(request);
    return answerProto.serialize({
      validHost: request.host,
      originalRequest: request,
      ...answer,
    });
  }

  #answerTo(request: ServerReflectionRequest__Output): Answer {
    switch (request.messageRequest ?? "nothing") {
      case "fileByFilename":
        return this.#file(request.fileByFilename ?? "");
      case "fileContainingSymbol":
        return this.#fileOfSymbol(request.fileContainingSymbol ?? "");
      case "fileContainingExtension":
        return this.#fileOfExtension(request.fileContainingExtension);
      case "allExtensionNumbersOfType":
        return this.#extensionNumbers(request.allExtensionNumbersOfType ?? "");
      case "listServices":
        return { listServicesResponse: { service: this.#services.map((name) => ({ name })) } };
      case "nothing":
        return error(status.UNIMPLEMENTED, "the request asks for nothing that is known here");
    }
  }

  #file(name: string): Answer {
    const files = this.#descriptors.withImports(name);
    if (files === undefined) return error(status.NOT_FOUND, `no proto file "${name}" is served`);
    return { fileDescriptorResponse: { fileDescriptorProto: [...files] } };
  }

  #fileOfSymbol(symbol: string): Answer {
    const file = this.#descriptors.fileOfSymbol(symbol);
    if (file === undefined) {
      return error(status.NOT_FOUND, `no served proto file declares "${symbol}"`);
    }
    return this.#file(file);
  }

  /** There are no extensions: a file that declares one is refused when it is described. */
  #fileOfExtension(asked: ServerReflectionRequest__Output["fileContainingExtension"]): Answer {
    const { containingType = "", extensionNumber = 0 } = asked ?? {};
    return error(status.NOT_FOUND, `no extension ${extensionNumber} of "${containingType}"`);
  }

  #extensionNumbers(type: string): Answer {
    if (!this.#descriptors.isMessage(type)) {
      return error(status.NOT_FOUND, `no served proto file declares a message "${type}"`);
    }
    return { allExtensionNumbersResponse: { baseTypeName: type, extensionNumber: [] } };
  }
}

function error(errorCode: status, errorMessage: string): Answer {
  return { errorResponse: { errorCode, errorMessage } };
}
