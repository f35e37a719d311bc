/**
 * Importers: maps that are staged in parts and committed, or given up, in keyspaces of their own;
 * their ranges go to the storage nodes that they are intended for.
 */

import { utf8ToBytes } from "../../../src/base/bytes.ts";
import type { ImportRow } from "../../../src/wire/api.ts";
import { Administrator, keyspaceNamed } from "./administrator.ts";

const STARTS = ["", "b", "e", "k", "t", "x"];
const PART_ROWS = 2;
const LEASE_DURATION_MS = 3_000;
const DEADLINE_MS = 20_000;

export class Importer extends Administrator {
  #count = 0;
  #isBusy = false;

  /** One import from its keyspace to its end, whatever that is. */
  async act(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await this.#import(`${this.name}-${++this.#count}`);
    } finally {
      this.#isBusy = false;
    }
  }

  async #import(keyspace: string): Promise<void> {
    const { keyspaces } = this.client;
    const deadline = { deadlineMs: DEADLINE_MS };
    await keyspaces.createKeyspace(keyspaceNamed(keyspace, LEASE_DURATION_MS), deadline);
    const importId = `import-${keyspace}`;
    const rows = STARTS.map((start): ImportRow => ({
      startKey: utf8ToBytes(start),
      intendedNodeId: this.prng.chance(0.7) ? this.prng.pick(this.nodeIds) : undefined,
    }));
    for (let part = 0; part * PART_ROWS < rows.length; part++) {
      const some = rows.slice(part * PART_ROWS, (part + 1) * PART_ROWS);
      await keyspaces.stageImport({ keyspace, importId, part, rows: some }, deadline);
      if (!this.prng.chance(0.05)) continue;
      await keyspaces.abortImport({ keyspace, importId }, deadline);
      this.world.trace.count("importsAborted");
      return;
    }
    await keyspaces.commitImport({ keyspace, importId, rowCount: rows.length }, deadline);
    this.samples.add(keyspace, STARTS.slice(1));
    this.world.trace.count("importsCommitted");
  }
}
