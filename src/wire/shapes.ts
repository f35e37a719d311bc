/**
 * The generated types of the public protos, by message name: what the serializer takes (`In`) and
 * what the deserializer gives (`Out`). Conversions name messages instead of importing 60 files.
 */

import type { MessageTypeDefinition } from "@grpc/proto-loader";
import type { Codec } from "./codec.ts";
import type { ProtoGrpcType as ClusterProto } from "./generated/cluster.ts";
import type { ProtoGrpcType as DirectoryProto } from "./generated/directory.ts";
import type { ProtoGrpcType as KeyspacesProto } from "./generated/keyspaces.ts";
import type { ProtoGrpcType as OwnershipProto } from "./generated/ownership.ts";

type Definitions = DirectoryProto["cadastre"]["v1"] &
  OwnershipProto["cadastre"]["v1"] &
  KeyspacesProto["cadastre"]["v1"] &
  ClusterProto["cadastre"]["admin"]["v1"];

export type MessageName = keyof Definitions;

export type In<Name extends MessageName> =
  Definitions[Name] extends MessageTypeDefinition<infer Input, infer _> ? Input & object : never;

export type Out<Name extends MessageName> =
  Definitions[Name] extends MessageTypeDefinition<infer _, infer Output> ? Output & object : never;

/** The conversion of a message; an absent one is a flaw. */
export type MessageCodec<Domain, Name extends MessageName> = Codec<
  Domain,
  In<Name>,
  Out<Name> | null | undefined
>;
