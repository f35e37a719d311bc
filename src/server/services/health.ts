/**
 * gRPC's health service: whether this server should be sent calls now, which is what /readyz says.
 * The readiness of a server is one for all of its services, and its services are the same as long
 * as it runs, so that an unknown one stays unknown.
 *
 * Nobody tells of a change of readiness, part of which is that time passes: the server looks at
 * every tick. Whoever asks gets what holds at that moment.
 */

import { failed, ok, type Result } from "../../base/result.ts";
import type { Refusal } from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";
import type { HealthApi, HealthRequest, ServingStatus } from "../../wire/standard/health.ts";
import type { Drain } from "./news.ts";

export interface HealthOptions {
  /** Full names of the services that callers may ask for. */
  readonly services: readonly string[];
  /** By the same checks as /readyz; false when the server drains. */
  readonly isReady: () => boolean;
  readonly drain: Drain;
}

type Answer<T> = Promise<Result<T, Refusal>>;

export class HealthService implements HealthApi {
  readonly #names: ReadonlySet<string>;
  readonly #options: HealthOptions;
  /** What the watches have been told or are about to be told. */
  #wasReady = false;
  /** Each wakes a watch that waits for a change. */
  readonly #waiting = new Set<() => void>();

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#names = new Set(["", ...options.services]);
    options.drain.onBegin(() => this.refresh());
  }

  check({ service }: HealthRequest): Answer<ServingStatus> {
    const status = this.#statusOf(service, this.#options.isReady());
    return Promise.resolve(
      status === "serviceUnknown" ? failed(this.#unknown(service)) : ok(status),
    );
  }

  list(): Answer<ReadonlyMap<string, ServingStatus>> {
    const isReady = this.#options.isReady();
    return Promise.resolve(
      ok(new Map([...this.#names].map((name) => [name, this.#statusOf(name, isReady)]))),
    );
  }

  /** A reader that is slow is told the latest state, not all that it has missed. */
  async *watch(
    { service }: HealthRequest,
    { signal }: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Result<ServingStatus, Refusal>> {
    this.refresh();
    let told: ServingStatus | undefined;
    for (;;) {
      const status = this.#statusOf(service, this.#wasReady);
      if (status !== told) {
        told = status;
        yield ok(status);
        // It may have changed again while the reader took this one.
        continue;
      }
      if (this.#options.drain.hasBegun || signal?.aborted === true) return;
      await this.#change(signal);
    }
  }

  /** Looks whether readiness has changed, and tells the watches. */
  refresh(): void {
    const isReady = this.#options.isReady();
    if (isReady === this.#wasReady && !this.#options.drain.hasBegun) return;
    this.#wasReady = isReady;
    for (const wake of this.#waiting) wake();
  }

  #statusOf(service: string, isReady: boolean): ServingStatus {
    if (!this.#names.has(service)) return "serviceUnknown";
    return isReady ? "serving" : "notServing";
  }

  #unknown(service: string): Refusal {
    const known = this.#options.services.join(", ");
    return refusal("NOT_FOUND", `no service "${service}"; there are "" (the server), ${known}`);
  }

  /** Resolves at the next change, at the drain, or when nobody reads any more. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
}
