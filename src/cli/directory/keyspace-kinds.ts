// The kind of every keyspace that a long-running verb meets, so that keys are shown in its form.
// Looked up when a new one appears; while the directory is away, keys are shown as plain text.
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import { CoordinationError } from "../../client/errors.ts";
import type { KeyspaceKind } from "../../wire/api.ts";
import { listAllKeyspaces } from "./keyspaces.ts";

export type KindOf = (keyspace: string) => KeyspaceKind;

export class KeyspaceKinds {
  readonly #client: Client;
  readonly #call: CallOptions;
  readonly #kinds = new Map<string, KeyspaceKind>();

  constructor(client: Client, call: CallOptions) {
    this.#client = client;
    this.#call = call;
  }

  readonly kindOf: KindOf = (keyspace) => this.#kinds.get(keyspace) ?? "range";

  /** Afterwards kindOf knows these, unless the directory does not or did not answer. */
  async learn(names: Iterable<string>): Promise<void> {
    const unknown = [...names].filter((name) => !this.#kinds.has(name));
    if (unknown.length === 0) return;
    try {
      const { keyspaces } = await listAllKeyspaces(this.#client, this.#call);
      for (const { name, kind } of keyspaces) this.#kinds.set(name, kind);
    } catch (error) {
      if (!(error instanceof CoordinationError)) throw error;
      return;
    }
    for (const name of unknown) if (!this.#kinds.has(name)) this.#kinds.set(name, "range");
  }
}
