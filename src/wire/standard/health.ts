/**
 * gRPC's health checking protocol (grpc.health.v1) as rows like those of our own methods. Only
 * servers use it: a client of ours learns from a refusal that a server cannot serve.
 */

import { defined } from "../../base/assert.ts";
import type { ServerStream, Unary } from "../api-services.ts";
import { type Codec, Flaw, message, oneOf, text } from "../codec.ts";
import type { HealthCheckRequest__Output } from "../generated/grpc/health/v1/HealthCheckRequest.ts";
import type { HealthListResponse__Output } from "../generated/grpc/health/v1/HealthListResponse.ts";
import { loadProto } from "../load.ts";
import { type MethodRow, methodRow } from "../methods.ts";
import { serviceIn } from "../public-protos.ts";

export const HEALTH_PROTO_FILE = "grpc/health/v1/health.proto";

/** A stream holds the name that it was asked for; the longest that exists has 32. */
const SERVICE_CHARS_MAX = 256;

export interface HealthRequest {
  /** Full name of a service; empty: the server as a whole. */
  readonly service: string;
}

/** `serviceUnknown` is said by a watch only. */
export type ServingStatus = "serving" | "notServing" | "serviceUnknown";

export interface HealthApi {
  readonly check: Unary<HealthRequest, ServingStatus>;
  readonly list: Unary<Readonly<Record<string, never>>, ReadonlyMap<string, ServingStatus>>;
  /** Ends without a refusal when the server stops. */
  readonly watch: ServerStream<HealthRequest, ServingStatus>;
}

const status = oneOf({
  serving: "SERVING",
  notServing: "NOT_SERVING",
  serviceUnknown: "SERVICE_UNKNOWN",
});

const checkRequest: Codec<
  HealthRequest,
  { service: string },
  HealthCheckRequest__Output | null | undefined
> = message({ service: text({ max: SERVICE_CHARS_MAX }) });

interface StatusIn {
  readonly status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}

const checkAnswer: Codec<ServingStatus, StatusIn, { readonly status: string }> = {
  toProto: (value) => ({ status: status.toProto(value) }),
  fromProto: (wire) => {
    const value = status.fromProto(wire.status);
    return value instanceof Flaw ? value.within("status") : value;
  },
};

const listRequest: Codec<Readonly<Record<string, never>>, object, object> = {
  toProto: () => ({}),
  fromProto: () => ({}),
};

const listAnswer: Codec<
  ReadonlyMap<string, ServingStatus>,
  { statuses: Record<string, StatusIn> },
  HealthListResponse__Output
> = {
  toProto: (statuses) => ({
    statuses: Object.fromEntries(
      [...statuses].map(([service, value]) => [service, checkAnswer.toProto(value)]),
    ),
  }),
  fromProto: ({ statuses }) => {
    const values = new Map<string, ServingStatus>();
    for (const [service, wire] of Object.entries(statuses)) {
      const value = checkAnswer.fromProto(wire);
      if (value instanceof Flaw) return value.within("statuses");
      values.set(service, value);
    }
    return values;
  },
};

const loaded = serviceIn(loadProto(HEALTH_PROTO_FILE), "grpc.health.v1.Health");
const methodOf = (name: string): NonNullable<(typeof loaded)[string]> =>
  defined(loaded[name], `the health service has a method ${name}`);

export const HEALTH: {
  readonly check: MethodRow<HealthRequest, ServingStatus>;
  readonly list: MethodRow<Readonly<Record<string, never>>, ReadonlyMap<string, ServingStatus>>;
  readonly watch: MethodRow<HealthRequest, ServingStatus>;
} = {
  check: methodRow(methodOf("Check"), false, checkRequest, checkAnswer),
  list: methodRow(methodOf("List"), false, listRequest, listAnswer),
  watch: methodRow(methodOf("Watch"), false, checkRequest, checkAnswer),
};
