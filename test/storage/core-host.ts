/**
 * A replica's core on a real log store, joined as a host joins them: the least that shows what is
 * sent, and what is answered to a client, before or after the disk.
 */

import { expect } from "vitest";
import type { MonotonicMs, ReplicaId } from "../../src/base/brands.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { RaftCore } from "../../src/raft/core.ts";
import type { Input } from "../../src/raft/input.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { Outbound, Persist } from "../../src/raft/output.ts";
import type { Entry, HardState } from "../../src/raft/types.ts";
import { OutputQueue } from "../../src/replica/output-queue.ts";
import type { OpenedLogStore } from "../../src/storage/log-store.ts";
import { raftConfig } from "../raft/raft-config.ts";

const NOW = 0 as MonotonicMs;

export interface CoreHostOptions {
  readonly send: (messages: readonly Outbound[]) => void;
  readonly onCommitted?: (entries: readonly Entry[]) => void;
}

export class CoreHost {
  readonly self: ReplicaId;
  readonly core: RaftCore;
  /** As it was opened. */
  readonly hardState: HardState;
  readonly #outputs: OutputQueue;
  readonly #options: CoreHostOptions;

  constructor({ store, replicas }: OpenedLogStore, options: CoreHostOptions) {
    const loaded = replicas[0] ?? expect.fail("no group");
    const { group, hardState, snapshot, base, entries, replicaId } = loaded;
    this.self = replicaId;
    this.hardState = hardState;
    this.#options = options;
    const config = raftConfig({ self: replicaId, seed: replicaId });
    this.core = new RaftCore(config, { hardState, snapshot, base, entries });
    this.#outputs = new OutputQueue({
      group,
      store,
      send: options.send,
      onPersisted: (step) => this.#persisted(step),
    });
  }

  receive(from: number, message: Message): void {
    this.#step({ kind: "message", nowMs: NOW, from: from as ReplicaId, message });
  }

  tick(): void {
    this.#step({ kind: "tick", nowMs: NOW });
  }

  propose(text: string): void {
    this.#step({ kind: "propose", nowMs: NOW, proposalId: 1, payload: utf8ToBytes(text) });
  }

  #persisted({ lastTerm, lastIndex }: Persist): void {
    this.#step({ kind: "persisted", nowMs: NOW, lastTerm, lastIndex });
  }

  #step(input: Input): void {
    const output = this.core.step(input);
    this.#outputs.push(output);
    if (output.committed.length > 0) this.#options.onCommitted?.(output.committed);
  }
}
