/**
 * The services that every gRPC tool knows, on the public port: health, by which probes and clients
 * choose servers, and reflection, by which a person with grpcurl sees what there is. Both answer
 * from memory and are not refused when the server is full; their streams have limits of their own.
 */

import type { MethodDefinition, Server, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ServerStream, Unary } from "../../wire/api-services.ts";
import { type MethodRow, publicServices, serviceOfPath } from "../../wire/methods.ts";
import { HEALTH, type HealthApi } from "../../wire/standard/health.ts";
import { publicDescriptors, REFLECTION_PATHS, Reflector } from "../../wire/standard/reflection.ts";
import type { Admission } from "./admission.ts";
import type { BugReports } from "./bugs.ts";
import { bytesMethod } from "./bytes-method.ts";
import { reflectionHandler } from "./reflection-handler.ts";
import { unaryHandler } from "./unary-handler.ts";
import { HEALTH_WATCH_RULES, type OpenStream, watchHandler } from "./watch-handler.ts";

export interface StandardServicesOptions {
  readonly health: HealthApi;
  readonly admission: Admission;
  readonly reports: BugReports;
  readonly streams: Set<OpenStream>;
}

type Row = MethodRow<unknown, unknown>;

export function addStandardServices(server: Server, options: StandardServicesOptions): void {
  addHealth(server, options);
  addReflection(server, options);
}

function addHealth(server: Server, { health, admission, reports }: StandardServicesOptions): void {
  const unary = (row: Row, service: Unary<never, unknown>): UntypedServiceImplementation => ({
    [row.path]: unaryHandler({
      row,
      service: service as Unary<unknown, unknown>,
      admission,
      admissionClass: "probe",
      reports,
    }),
  });
  const { check, list, watch } = HEALTH as unknown as Record<keyof typeof HEALTH, Row>;
  const definitions: Record<string, MethodDefinition<Buffer, Buffer>> = {
    [check.path]: bytesMethod(check.path, {}),
    [list.path]: bytesMethod(list.path, {}),
    [watch.path]: bytesMethod(watch.path, { responseStream: true }),
  };
  server.addService(definitions, {
    ...unary(check, health.check.bind(health)),
    ...unary(list, health.list.bind(health)),
    [watch.path]: watchHandler({
      rules: HEALTH_WATCH_RULES,
      row: watch,
      service: health.watch.bind(health) as ServerStream<unknown, unknown>,
      admission,
      reports,
      // They end when the server drains, after their last word.
      streams: undefined,
    }),
  });
}

function addReflection(server: Server, options: StandardServicesOptions): void {
  const services = [
    ...publicServices(),
    ...[HEALTH.check.path, ...REFLECTION_PATHS].map(serviceOfPath),
  ];
  const reflector = new Reflector(publicDescriptors(), services);
  const definitions: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const path of REFLECTION_PATHS) {
    definitions[path] = bytesMethod(path, { requestStream: true, responseStream: true });
    handlers[path] = reflectionHandler({ ...options, path, reflector });
  }
  server.addService(definitions, handlers);
}
