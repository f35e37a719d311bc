/**
 * The one place where proto files are read and where the options of the loader are spelt out. The
 * types in generated/ are made with the same options (test/wire/generated.test.ts compares them).
 *
 * The proto files lie beside src/ and beside dist/, two levels above this file in both.
 */

import { fileURLToPath } from "node:url";
import { loadSync, type Options, type PackageDefinition } from "@grpc/proto-loader";

/** Every proto path is relative to this folder. */
export const PROTO_ROOT: string = fileURLToPath(new URL("../../proto", import.meta.url));

export const LOADER_OPTIONS: Readonly<Options> = {
  includeDirs: [PROTO_ROOT],
  /** Fields are camelCase in the program, whatever the proto says. */
  keepCase: false,
  /** As strings 64-bit numbers arrive whole; as numbers they would be rounded before any check. */
  longs: String,
  enums: String,
  /** Bytes are views of the received frame, not copies and not base64. */
  bytes: Buffer,
  /** Absent scalars are zero, "" or empty, absent messages null, absent lists []. */
  defaults: true,
  /** Each oneof gets a property that names the member that is set. */
  oneofs: true,
};

/** The definitions of a proto file, such as "cadastre/peer/v1/peer.proto". */
export function loadProto(path: string): PackageDefinition {
  return loadSync(path, LOADER_OPTIONS);
}
