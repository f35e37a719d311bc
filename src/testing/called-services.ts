/**
 * The services of a channel that has one way for all calls: each method of each service is what
 * `methodOf` gives for its name.
 */

import type { ApiServices } from "../wire/api-services.ts";

export function calledServices(
  methodOf: (service: keyof ApiServices, method: string) => unknown,
): ApiServices {
  const service = (name: keyof ApiServices): unknown =>
    new Proxy({}, { get: (_target, method: string) => methodOf(name, method) });
  const services: Record<keyof ApiServices, unknown> = {
    directory: service("directory"),
    ownership: service("ownership"),
    keyspaces: service("keyspaces"),
    cluster: service("cluster"),
  };
  return services as unknown as ApiServices;
}
