/** What the tests of checkpoints and fetches share: positions, machines, files, failures. */

import type { GroupId, LogIndex, LogTimeMs, ReplicaId, Term } from "../../src/base/brands.ts";
import type { LogPosition } from "../../src/raft/types.ts";
import type { Logger } from "../../src/replica/ports.ts";
import type {
  BeforeOperation,
  MemorySnapshotStore,
  SnapshotOperation,
} from "../../src/testing/memory-snapshots.ts";
import { add, CountingMachine } from "./counting-machine.ts";

export function at(index: number, term = 1): LogPosition {
  return { index: index as LogIndex, term: term as Term, timeMs: 0 as LogTimeMs };
}

export function replicaId(value: number): ReplicaId {
  return value as ReplicaId;
}

/** A machine that has applied so many entries. */
export function machineAt(group: GroupId, index: number): CountingMachine {
  const machine = new CountingMachine(group);
  for (let entry = 1; entry <= index; entry++) machine.apply(at(entry), add(entry));
  return machine;
}

/** The bytes that a machine's cut gives. */
export function cutBytes(machine: CountingMachine): Uint8Array[] {
  const cut = machine.openCut();
  const pieces: Uint8Array[] = [];
  for (let piece = cut.next(); piece !== undefined; piece = cut.next()) pieces.push(piece);
  cut.close();
  return pieces;
}

/** Publishes a machine's state; answers the size of the file. */
export async function publish(
  store: MemorySnapshotStore,
  machine: CountingMachine,
  position: LogPosition,
): Promise<number> {
  const writer = store.create({ group: machine.group, position });
  for (const piece of cutBytes(machine)) await writer.append(piece);
  return writer.publish();
}

/** Another machine, brought to a machine's state by its snapshot. */
export function restored(machine: CountingMachine): CountingMachine {
  const copy = new CountingMachine(machine.group);
  const restore = copy.beginRestore();
  for (const piece of cutBytes(machine)) restore.accept(piece);
  if (!restore.finish().ok) throw new Error("a cut can be restored");
  return copy;
}

/** Every operation of one kind fails, as on a full disk. */
export function failing(operation: SnapshotOperation): BeforeOperation {
  return (kind) => (kind === operation ? Promise.reject(new Error("disk full")) : undefined);
}

export class RecordingLogger implements Logger {
  readonly lines: string[] = [];

  debug(): void {}

  info(event: string): void {
    this.lines.push(`info ${event}`);
  }

  warn(event: string): void {
    this.lines.push(`warn ${event}`);
  }

  error(event: string): void {
    this.lines.push(`error ${event}`);
  }
}
