/**
 * Whether this server takes part in its groups (law 30, decision 0012). It does not
 *
 *   - before every other server of its first configuration has durably remembered its store: an
 *     empty store in the place of a lost one could otherwise join those who never met the first;
 *   - once its store cannot be trusted to hold what was promised from it: found so at the start, or
 *     told so by a server that saw the promise. That is for good, and other processes in the same
 *     data directory are bound by it, too.
 */

import type { ServerId } from "../base/brands.ts";
import type { Logger } from "../replica/ports.ts";
import type { StorageError } from "../storage/errors.ts";
import type { Abstention } from "../wire/api.ts";

export interface ParticipationOptions {
  readonly others: readonly ServerId[];
  /** Whether all others had remembered this store when it was opened. */
  readonly isAdmitted: boolean;
  /** Makes that durable. */
  readonly admit: () => Promise<void>;
  readonly logger: Logger;
  /** The store cannot be trusted any more: stop everything that relies on it. */
  readonly onDistrust: (error: StorageError) => void;
}

export class Participation {
  readonly #options: ParticipationOptions;
  readonly #missing: Set<ServerId>;
  #isAdmitted: boolean;
  #distrust: StorageError | undefined;

  constructor(options: ParticipationOptions) {
    this.#options = options;
    this.#missing = new Set(options.isAdmitted ? [] : options.others);
    this.#isAdmitted = options.isAdmitted;
    if (!options.isAdmitted && this.#missing.size === 0) this.#admit();
  }

  /** Of a server whose store was found wanting when it was opened. */
  static none(error: StorageError, logger: Logger): Participation {
    const participation = new Participation({
      others: [],
      isAdmitted: true,
      admit: () => Promise.resolve(),
      logger,
      onDistrust: () => {},
    });
    participation.distrustStore(error);
    return participation;
  }

  /** Why the store cannot be trusted; undefined: it can. */
  get distrust(): string | undefined {
    return this.#distrust?.message;
  }

  /** What operators and clients are told; undefined: this server takes part. */
  get abstention(): Abstention | undefined {
    if (this.#distrust !== undefined) {
      return { reason: this.#distrust.code, details: this.#distrust.message };
    }
    if (this.#isAdmitted) return undefined;
    const names = [...this.#missing].map((id) => `server ${id}`).join(" and ");
    const details =
      `this server is new and takes part once every other has met it; ` +
      `${names === "" ? "that is being written down" : `start ${names}`}`;
    return { reason: "notAdmitted", details };
  }

  /** A peer has durably remembered this server's store. */
  onRemembered(peer: ServerId): void {
    if (this.#missing.delete(peer) && this.#missing.size === 0) this.#admit();
  }

  /** What is stored here cannot be trusted. The first reason stands. */
  distrustStore(error: StorageError): void {
    if (this.#distrust !== undefined) return;
    this.#distrust = error;
    this.#options.logger.error("quarantined", { reason: error.code, problem: error.message });
    this.#options.onDistrust(error);
  }

  #admit(): void {
    void this.#options.admit().then(() => {
      this.#isAdmitted = true;
      this.#options.logger.info("admitted", { by: this.#options.others });
    });
  }
}
