/**
 * Finishes keyspaces that the root has recorded as "creating": the shard makes the first range,
 * then the root calls it ready. Runs wherever the root's leader is, so that any leader resumes what
 * another began (law 28). Both steps are idempotent; two leaders at once do no harm.
 */

import { defined } from "../../base/assert.ts";
import type { ClusterRecord, KeyspaceRecord } from "../../machine/root/types.ts";
import type { Logger } from "../../replica/ports.ts";
import type { ClusterGroups } from "./cluster-groups.ts";

/** One step's share of time; what fails is tried again on a later tick. */
const STEP_TIMEOUT_MS = 2_000;

export class RootDuties {
  readonly #groups: ClusterGroups;
  readonly #cluster: ClusterRecord;
  readonly #logger: Logger;
  #isBusy = false;

  /** `cluster` is what a first leader records as the cluster's identity. */
  constructor(groups: ClusterGroups, cluster: ClusterRecord, logger: Logger) {
    this.#groups = groups;
    this.#cluster = cluster;
    this.#logger = logger;
  }

  /** Called on every tick and after every entry of the root. Does nothing unless it leads. */
  run(): void {
    const { root, rootState } = this.#groups;
    if (this.#isBusy || !root.isLeader || !root.replica.core.isLeaderReady) return;
    const duty = rootState.cluster === undefined ? () => this.#initCluster() : this.#nextCreation();
    if (duty === undefined) return;
    this.#isBusy = true;
    void duty().finally(() => {
      this.#isBusy = false;
    });
  }

  #nextCreation(): (() => Promise<void>) | undefined {
    for (const keyspace of this.#groups.rootState.keyspaces.values()) {
      if (keyspace.state === "creating") return () => this.#finish(keyspace);
    }
    return undefined;
  }

  async #initCluster(): Promise<void> {
    const command = { kind: "initCluster", cluster: this.#cluster } as const;
    await this.#groups.root.submit({ requestId: undefined, command }, STEP_TIMEOUT_MS);
  }

  async #finish(keyspace: KeyspaceRecord): Promise<void> {
    const { root, shards } = this.#groups;
    const { keyspaceId, settings, spans } = keyspace;
    const { group } = defined(spans[0], "a keyspace's spans tile it");
    const shard = defined(shards.get(group), "a keyspace's shard exists");
    const { name, leaseDurationMs, renewIntervalMs, leaseMode, dataKind } = settings;
    const durations = { leaseDurationMs, renewIntervalMs };
    const terms = { keyspaceId, name, ...durations, leaseMode, dataKind };
    const create = { kind: "createKeyspace", terms } as const;
    const made = await shard.access.submit(
      { requestId: undefined, command: create },
      STEP_TIMEOUT_MS,
    );
    if (made.kind === "failed") {
      this.#logger.warn("keyspaceCreationWaits", { keyspace: name, reason: made.reason });
      return;
    }
    const ready = { kind: "markKeyspaceReady", keyspaceId } as const;
    const marked = await root.submit({ requestId: undefined, command: ready }, STEP_TIMEOUT_MS);
    if (marked.kind === "failed") return;
    this.#logger.info("keyspaceReady", { keyspace: name, keyspaceId, group });
  }
}
