/**
 * The root's records in a snapshot, in the order of the state below: its own fields, keyspaces by
 * id, nodes by name, the floor of request ids, remembered answers by client and sequence. Golden
 * tests hold the form.
 */

import { ROOT_GROUP } from "../../base/brands.ts";
import { type Codec, optional, struct, uint, union } from "../../base/codec.ts";
import { RecordCut } from "../common/record-cut.ts";
import type { StateBuilder } from "../common/record-restore.ts";
import {
  storedAnswerCodec,
  storedClientCodec,
  storedFloorCodec,
  type StoredMemory,
} from "../common/request-ids.ts";
import type { SnapshotForm, SnapshotPosition } from "../common/snapshot-form.ts";
import type { SnapshotCut } from "../group.ts";
import { type RootResult, rootResultCodec } from "./commands.ts";
import { emptyRoot, type RootState } from "./state.ts";
import {
  clusterRecordCodec,
  type KeyspaceRecord,
  keyspaceRecordCodec,
  type NodeRecord,
  nodeRecordCodec,
} from "./types.ts";

/** The position tells these, and these are derived or have records of their own. */
type NotInFields =
  | ("generation" | "revision" | "timeMs")
  | ("keyspaces" | "keyspaceIds" | "nodes" | "requests");

type StoredFields = Readonly<Omit<RootState, NotInFields>>;

export type StoredRoot =
  | ({ readonly kind: "fields" } & StoredFields)
  | { readonly kind: "keyspace"; readonly keyspace: KeyspaceRecord }
  | { readonly kind: "node"; readonly node: NodeRecord }
  | StoredMemory<RootResult>;

const storedRootCodec: Codec<StoredRoot> = union<StoredRoot>({
  fields: [
    1,
    struct<StoredFields>({ cluster: optional(clusterRecordCodec), lastKeyspaceId: uint }),
  ],
  keyspace: [2, struct({ keyspace: keyspaceRecordCodec })],
  node: [3, struct({ node: nodeRecordCodec })],
  client: [4, storedClientCodec],
  answer: [5, storedAnswerCodec(rootResultCodec)],
  floor: [6, storedFloorCodec],
});

/** Versions: 1, the first. */
export const ROOT_FORM: SnapshotForm<StoredRoot> = {
  machine: "root",
  version: 1,
  record: storedRootCodec,
};

export function openRootCut(state: RootState, pieceBytes?: number): SnapshotCut {
  const { revision, timeMs, cluster, lastKeyspaceId } = state;
  const keyspaces = state.keyspaces.freeze();
  const nodes = state.nodes.freeze();
  const requests = state.requests.openCut();
  function* records(): Generator<StoredRoot> {
    yield { kind: "fields", cluster, lastKeyspaceId };
    for (const [, keyspace] of keyspaces.entries()) yield { kind: "keyspace", keyspace };
    for (const [, node] of nodes.entries()) yield { kind: "node", node };
    yield* requests.records();
  }
  const onClose = (): void => {
    for (const view of [keyspaces, nodes, requests]) view.close();
  };
  const position = { group: ROOT_GROUP, revision, timeMs };
  return new RecordCut(ROOT_FORM, position, records(), { pieceBytes, onClose });
}

export class RootBuilder implements StateBuilder<StoredRoot> {
  readonly #state: RootState;
  readonly #install: (state: RootState) => void;
  #last: StoredRoot["kind"] | undefined;

  constructor(generation: number, install: (state: RootState) => void) {
    this.#state = emptyRoot(generation);
    this.#install = install;
  }

  begin({ revision, timeMs }: SnapshotPosition): void {
    this.#state.revision = revision;
    this.#state.timeMs = timeMs;
  }

  take(record: StoredRoot): string | undefined {
    if (!FOLLOWS[record.kind].includes(this.#last)) return "a record is out of order";
    this.#last = record.kind;
    switch (record.kind) {
      case "fields":
        this.#state.cluster = record.cluster;
        this.#state.lastKeyspaceId = record.lastKeyspaceId;
        return undefined;
      case "keyspace":
        return this.#addKeyspace(record.keyspace);
      case "node":
        return this.#addNode(record.node);
      case "floor":
      case "client":
      case "answer":
        return this.#state.requests.restore(record, this.#state);
    }
  }

  end(): string | undefined {
    const isWhole = this.#last === "floor" || this.#last === "answer";
    return isWhole ? undefined : "records are missing";
  }

  install(): void {
    this.#install(this.#state);
  }

  #addKeyspace(keyspace: KeyspaceRecord): string | undefined {
    const { keyspaces, keyspaceIds, lastKeyspaceId } = this.#state;
    const { keyspaceId, settings } = keyspace;
    const isInOrder = keyspaceId > (keyspaces.last()?.[0] ?? 0) && keyspaceId <= lastKeyspaceId;
    if (!isInOrder) return "keyspace ids are not in order";
    if (keyspaceIds.has(settings.name)) return "two keyspaces have one name";
    keyspaces.set(keyspaceId, keyspace);
    keyspaceIds.set(settings.name, keyspaceId);
    return undefined;
  }

  #addNode(node: NodeRecord): string | undefined {
    const { nodes, revision } = this.#state;
    const last = nodes.last()?.[0];
    if (last !== undefined && last >= node.nodeId) return "nodes are not in order";
    const { incarnation, predecessor, provenSince } = node;
    if (incarnation > revision) return "an incarnation is of the future";
    const isChain = predecessor < incarnation && provenSince > 0 && provenSince <= incarnation;
    if (!isChain) return "a registration does not follow the one before";
    nodes.set(node.nodeId, node);
    return undefined;
  }
}

/** What each record may come after. */
const FOLLOWS: Readonly<Record<StoredRoot["kind"], readonly (StoredRoot["kind"] | undefined)[]>> = {
  fields: [undefined],
  keyspace: ["fields", "keyspace"],
  node: ["fields", "keyspace", "node"],
  floor: ["fields", "keyspace", "node"],
  client: ["floor", "answer"],
  answer: ["client", "answer"],
};
