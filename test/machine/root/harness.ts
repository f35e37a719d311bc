/** Drives a root machine entry by entry, with every invariant of SPEC.md checked after each. */

import type {
  GroupId,
  LogIndex,
  LogTimeMs,
  Revision,
  ServerId,
  Term,
} from "../../../src/base/brands.ts";
import type {
  RootAnswer,
  RootCommand,
  RootEvent,
  RootRequest,
  RootResult,
} from "../../../src/machine/root/commands.ts";
import { checkRoot, checkRootDelta, pictureOfRoot } from "../../../src/machine/root/invariants.ts";
import { RootMachine } from "../../../src/machine/root/machine.ts";
import type {
  ClusterRecord,
  KeyspaceSettings,
  NodeRecord,
  ProcessStart,
} from "../../../src/machine/root/types.ts";

export const CLUSTER: ClusterRecord = {
  clusterId: "c1",
  name: "test",
  servers: [
    { serverId: 1 as ServerId, grpcAddress: "h:1", peerAddress: "h:2", httpAddress: "h:3" },
  ],
  shardGroups: [1 as GroupId, 2 as GroupId],
};

export const SETTINGS: KeyspaceSettings = {
  name: "orders",
  kind: "range",
  hashFunction: undefined,
  leaseMode: "exclusive",
  dataKind: "local",
  leaseDurationMs: 10_000,
  renewIntervalMs: 3_000,
};

export interface RootStep {
  readonly revision: Revision;
  readonly answer: RootAnswer;
  readonly result: RootResult;
  readonly events: readonly RootEvent[];
}

export class RootHarness {
  readonly machine: RootMachine;
  timeMs = 0;
  #index = 0;

  constructor(generation = 0) {
    this.machine = new RootMachine(generation);
  }

  get revision(): Revision {
    return this.machine.revision;
  }

  apply(command: RootCommand, requestId?: RootRequest["requestId"]): RootStep {
    const before = pictureOfRoot(this.machine.state);
    const { answer, events, revision } = this.machine.apply(this.#nextMeta(), {
      requestId,
      command,
    });
    checkRoot(this.machine.state);
    checkRootDelta(before, this.machine.state);
    if (answer === undefined) throw new Error("a command has an answer");
    return { revision, answer, result: answer.result, events };
  }

  noop(): readonly RootEvent[] {
    const before = pictureOfRoot(this.machine.state);
    const { events, answer } = this.machine.apply(this.#nextMeta(), undefined);
    checkRoot(this.machine.state);
    checkRootDelta(before, this.machine.state);
    if (answer !== undefined) throw new Error("a noop has no answer");
    return events;
  }

  init(): RootStep {
    return this.apply({ kind: "initCluster", cluster: CLUSTER });
  }

  create(name: string, group = 1): RootStep {
    const settings = { ...SETTINGS, name };
    return this.apply({ kind: "createKeyspace", settings, group: group as GroupId });
  }

  register(nodeId: string, dataUuid = `uuid-${nodeId}`, start?: ProcessStart): RootStep {
    const rest = { addresses: ["h:9"], zone: "z", labels: [], capacity: 1 };
    return this.apply({ kind: "registerNode", nodeId, dataUuid, start, ...rest });
  }

  node(nodeId: string): NodeRecord {
    const node = this.machine.state.nodes.get(nodeId);
    if (node === undefined) throw new Error(`${nodeId} has registered`);
    return node;
  }

  #nextMeta(): { index: LogIndex; term: Term; timeMs: LogTimeMs } {
    const index = ++this.#index as LogIndex;
    return { index, term: 1 as Term, timeMs: this.timeMs as LogTimeMs };
  }
}
