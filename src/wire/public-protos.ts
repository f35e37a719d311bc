/**
 * The public proto files, loaded once per process: serializers and deserializers by full name. The
 * loader types them loosely; this file is where a name is tied to a shape.
 */

import type { MessageTypeDefinition, PackageDefinition } from "@grpc/proto-loader";
import { defined } from "../base/assert.ts";
import { loadProto } from "./load.ts";

/** What the public port serves or attaches to errors; what these import is loaded with them. */
export const PUBLIC_PROTO_FILES: readonly string[] = [
  "cadastre/v1/directory.proto",
  "cadastre/v1/ownership.proto",
  "cadastre/v1/keyspaces.proto",
  "cadastre/v1/errors.proto",
  "cadastre/admin/v1/cluster.proto",
  "google/rpc/status.proto",
  "google/rpc/error_details.proto",
];

const definitions: PackageDefinition = Object.fromEntries(
  PUBLIC_PROTO_FILES.flatMap((file) => Object.entries(loadProto(file))),
);

/** The two ways between a message's plain form and bytes. Deserializing throws on bad bytes. */
export interface Serializer<In, Out> {
  readonly serialize: (value: In) => Buffer;
  readonly deserialize: (bytes: Buffer) => Out;
}

/** The message of this full name; the caller names its generated types. */
export function messageOf<In extends object, Out extends object>(
  fullName: string,
): Serializer<In, Out> {
  return messageIn(definitions, fullName);
}

/** The same of another file than the public ones. */
export function messageIn<In extends object, Out extends object>(
  loaded: PackageDefinition,
  fullName: string,
): Serializer<In, Out> {
  const definition = defined(loaded[fullName], `${fullName} is in the proto files`);
  return definition as unknown as MessageTypeDefinition<In, Out>;
}

/** The loader's definition of a method, with its path and both of its messages. */
export interface LoadedMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestType: Serializer<object, object>;
  readonly responseType: Serializer<object, object>;
}

export type LoadedService = Readonly<Record<string, LoadedMethod>>;

/** The methods of a service by name. */
export function serviceOf(fullName: string): LoadedService {
  return serviceIn(definitions, fullName);
}

/** The same of another file than the public ones. */
export function serviceIn(loaded: PackageDefinition, fullName: string): LoadedService {
  const definition = defined(loaded[fullName], `${fullName} is in the proto files`);
  return definition as unknown as LoadedService;
}
