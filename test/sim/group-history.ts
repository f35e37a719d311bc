/**
 * One group's history as the whole simulation sees it: every entry that any leader ever made, and
 * the one sequence that was committed. The checkers of raft's properties share it.
 */

import type { GroupId, ServerId } from "../../src/base/brands.ts";
import type { RaftCore } from "../../src/raft/core.ts";
import type { Input } from "../../src/raft/input.ts";
import type { Output } from "../../src/raft/output.ts";
import type { RaftStatus } from "../../src/raft/status.ts";
import type { Entry } from "../../src/raft/types.ts";
import { positionKey } from "./entries.ts";

/** One step of one core, observed from outside. */
export interface Step {
  readonly server: ServerId;
  readonly group: GroupId;
  readonly core: RaftCore;
  readonly before: RaftStatus;
  readonly after: RaftStatus;
  readonly input: Input;
  readonly output: Output;
  readonly trueMs: number;
}

export interface MadeEntry {
  readonly entry: Entry;
  /** Term of the entry before it; undefined: its leader's log began with it. */
  readonly prevTerm: number | undefined;
  /** When its leader stamped it, in true time. */
  readonly stampedMs: number;
}

export class GroupHistory {
  readonly group: GroupId;
  /** By index and term. */
  readonly made: Map<number, MadeEntry> = new Map();
  /** Entry i stands at i - 1. */
  readonly committed: Entry[] = [];
  /** The term in which each of them was committed: its leader's, not always the entry's. */
  readonly committedInTerm: number[] = [];

  constructor(group: GroupId) {
    this.group = group;
  }

  get committedIndex(): number {
    return this.committed.length;
  }

  committedAt(index: number): Entry | undefined {
    return this.committed[index - 1];
  }

  madeAt(entry: Pick<Entry, "index" | "term">): MadeEntry | undefined {
    return this.made.get(positionKey(entry));
  }

  isCommitted(entry: Entry): boolean {
    const committed = this.committedAt(entry.index);
    return committed !== undefined && committed.term === entry.term;
  }
}
