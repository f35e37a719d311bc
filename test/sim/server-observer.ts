/**
 * Stands between the parts of a simulated server: everything that it sends, stores, steps and
 * applies passes the checkers, and the points at which it can be made to die.
 */

import type { GroupId, ReplicaId } from "../../src/base/brands.ts";
import type { GroupMachine } from "../../src/machine/group.ts";
import { checkStep } from "../../src/raft/invariants.ts";
import type { RaftConfig } from "../../src/raft/types.ts";
import type { LogStore, Transport } from "../../src/replica/ports.ts";
import type { Replica } from "../../src/replica/replica.ts";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import type { ServerCore } from "../../src/server/server-core.ts";
import type { FaultyNetwork } from "../../src/testing/faulty-network.ts";
import type { ProcessClock } from "../../src/testing/process-clock.ts";
import type { VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { StoresChecker } from "./checkers/p09-stores.ts";
import type { GroupProperties, Properties } from "./group-properties.ts";
import type { Shape } from "./shape.ts";
import type { CrashPoint, SimServer } from "./sim-server.ts";
import { countStep, stepToNumbers, stepToText } from "./step-notes.ts";
import type { Trace } from "./trace.ts";
import { ROOT } from "./virtual-cluster.ts";

export interface ServerObserverOptions {
  readonly world: VirtualClock;
  readonly network: FaultyNetwork;
  readonly shape: Shape;
  readonly trace: Trace;
  readonly properties: () => Properties;
  readonly stores: StoresChecker;
  readonly voters: () => readonly ReplicaId[];
  readonly onPassed: (server: SimServer, point: CrashPoint) => void;
}

export class ServerObserver {
  readonly #options: ServerObserverOptions;

  constructor(options: ServerObserverOptions) {
    this.#options = options;
  }

  transport(server: SimServer, clock: ProcessClock, inner: Transport): Transport {
    const { network, stores, onPassed } = this.#options;
    return {
      send: (to, envelope) => {
        // What is said to one that has not been met goes nowhere.
        if (clock.isKilled || !network.haveMet(server.id, to)) return;
        const { group, message } = envelope;
        const outbound = { to: envelope.to, message };
        stores.onSend(server.id, envelope);
        this.#propertiesOf(group).onSend(server.id, envelope.from, outbound);
        inner.send(to, envelope);
        onPassed(server, "sends");
      },
    };
  }

  store(server: SimServer, inner: LogStore): LogStore {
    const { clock } = server;
    const { onPassed } = this.#options;
    return {
      submit: (step) => {
        if (clock.isKilled) return;
        inner.submit({
          ...step,
          onDurable: () => {
            onPassed(server, "hearsDurable");
            if (!clock.isKilled) step.onDurable();
          },
        });
        onPassed(server, "submits");
      },
      close: () => inner.close(),
    };
  }

  /** Nobody hears a server whose store has fallen back: what it does to itself is no matter. */
  groups(server: SimServer, clock: ProcessClock, core: ServerCore, config: ServerConfig): void {
    if (this.#options.stores.isFallen(server.id)) return;
    const { root, shards } = core.groups;
    this.#replica(server, clock, root.replica, config);
    for (const { access } of shards.values()) {
      this.#replica(server, clock, access.replica, config);
    }
  }

  /** Stands between the host and its core and machine. */
  #replica<Request, Answer, Event>(
    server: SimServer,
    clock: ProcessClock,
    replica: Replica<Request, Answer, Event>,
    { raft }: ServerConfig,
  ): void {
    const { world, shape, stores, trace, voters, onPassed } = this.#options;
    const { core, group, self } = replica;
    const properties = this.#propertiesOf(group);
    const config: RaftConfig = {
      ...raft,
      ...shape.raftBounds,
      logTrailingBytes: shape.storage.logTrailingBytes,
      group,
      self,
      configuration: { voters: voters() },
      seed: 0,
    };
    properties.onRestart(server.id, core);
    const runStep = core.step.bind(core);
    let before = core.status();
    core.step = (input) => {
      const output = runStep(input);
      if (clock.isKilled) return output;
      const after = checkStep({ config, core, before, input, output });
      const step = { server: server.id, group, core, before, after, input, output };
      trace.note(stepToNumbers(step), () => stepToText(step));
      properties.onStep({ ...step, trueMs: world.nowMs() });
      countStep(trace, output);
      const isLeader = after.role === "leader";
      if (isLeader && after.commitIndex > before.commitIndex) {
        const { lastIndex } = server.model.durable(group);
        stores.onCounted(server.id, group, after.term, Math.min(after.commitIndex, lastIndex));
      }
      const isElected = isLeader && before.role !== "leader";
      before = after;
      if (isElected) onPassed(server, "leads");
      return output;
    };
    this.#machine(server, clock, replica);
  }

  #machine<Request, Answer, Event>(
    server: SimServer,
    clock: ProcessClock,
    { machine, group }: Replica<Request, Answer, Event>,
  ): void {
    const { trace, onPassed } = this.#options;
    const properties = this.#propertiesOf(group) as unknown as GroupProperties<
      Request,
      Answer,
      Event
    >;
    const who = `server ${server.id}, group ${group}`;
    const apply: GroupMachine<Request, Answer, Event>["apply"] = machine.apply.bind(machine);
    let appliedTo = 0;
    machine.apply = (meta, request) => {
      if (clock.isKilled) return apply(meta, request);
      // Whatever lies between came from a snapshot: at the start, or installed.
      if (appliedTo !== meta.index - 1) properties.onState(who, meta.index - 1, machine.digest());
      appliedTo = meta.index;
      const applied = apply(meta, request);
      properties.onApplied(who, machine, meta, applied);
      onPassed(server, "applies");
      return applied;
    };
    const openCut = machine.openCut.bind(machine);
    // A digest is made of a cut as well.
    let isDigesting = false;
    machine.openCut = (pieceBytes) => {
      if (clock.isKilled || isDigesting) return openCut(pieceBytes);
      isDigesting = true;
      properties.onState(who, machine.revision, machine.digest());
      isDigesting = false;
      trace.count("checkpoints");
      return openCut(pieceBytes);
    };
  }

  #propertiesOf(group: GroupId): GroupProperties<never, never, never> {
    const { root, shard } = this.#options.properties();
    return group === ROOT ? root : shard;
  }
}
