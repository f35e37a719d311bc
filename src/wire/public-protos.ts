/**
 * The public proto files, loaded once per process: serializers and deserializers by full name. The
 * loader types them loosely; this file is where a name is tied to a shape.
 */

import type { MessageTypeDefinition, PackageDefinition } from "@grpc/proto-loader";
import { defined } from "../base/assert.ts";
import { loadProto } from "./load.ts";

const definitions: PackageDefinition = {
  ...loadProto("cadastre/v1/directory.proto"),
  ...loadProto("cadastre/v1/ownership.proto"),
  ...loadProto("cadastre/v1/keyspaces.proto"),
  ...loadProto("cadastre/v1/errors.proto"),
  ...loadProto("cadastre/admin/v1/cluster.proto"),
  ...loadProto("google/rpc/status.proto"),
  ...loadProto("google/rpc/error_details.proto"),
};

/** The two ways between a message's plain form and bytes. Deserializing throws on bad bytes. */
export interface Serializer<In, Out> {
  readonly serialize: (value: In) => Buffer;
  readonly deserialize: (bytes: Buffer) => Out;
}

/** The message of this full name; the caller names its generated types. */
export function messageOf<In extends object, Out extends object>(
  fullName: string,
): Serializer<In, Out> {
  const definition = defined(definitions[fullName], `${fullName} is in the proto files`);
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

/** The methods of a service by name. */
export function serviceOf(fullName: string): Readonly<Record<string, LoadedMethod>> {
  const definition = defined(definitions[fullName], `${fullName} is in the proto files`);
  return definition as unknown as Readonly<Record<string, LoadedMethod>>;
}
