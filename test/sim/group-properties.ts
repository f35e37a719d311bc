/**
 * The checkers of one group put together: they see every step of every replica, every message that
 * leaves, every entry that a machine applies, and what each disk holds.
 */

import type { LogIndex, ReplicaId, ServerId } from "../../src/base/brands.ts";
import type { AppliedEntry, EntryMeta, GroupMachine } from "../../src/machine/group.ts";
import type { RaftCore } from "../../src/raft/core.ts";
import type { Outbound } from "../../src/raft/output.ts";
import type { Entry } from "../../src/raft/types.ts";
import { LeadersChecker } from "./checkers/p01-leaders.ts";
import { checkDurable } from "./checkers/p02-durable.ts";
import { checkLogMatching } from "./checkers/p03-log-matching.ts";
import { checkLeaderLog } from "./checkers/p04-leader-log.ts";
import { CommittedChecker } from "./checkers/p05-committed.ts";
import { checkMatchIndexes } from "./checkers/p06-match-index.ts";
import { checkOffer, checkSnapshots } from "./checkers/p10-snapshots.ts";
import { LogTimeChecker } from "./checkers/p19-log-time.ts";
import type { GroupHistory, Step } from "./group-history.ts";
import { must } from "./must.ts";
import type { Oracle } from "./oracle.ts";
import type { DurableLog } from "./store-model.ts";

export interface GroupPropertiesOptions<Request, Answer, Event> {
  readonly history: GroupHistory;
  readonly oracle: Oracle<Request, Answer, Event>;
  readonly voters: () => readonly ReplicaId[];
  readonly diskOf: (replica: ReplicaId) => DurableLog;
  /** Clocks run within their bound: log time can be held to it. */
  readonly ownersAreBound: boolean;
}

export class GroupProperties<Request, Answer, Event> {
  readonly #options: GroupPropertiesOptions<Request, Answer, Event>;
  readonly #leaders = new LeadersChecker();
  readonly #logTime = new LogTimeChecker();
  readonly #committed: CommittedChecker;

  constructor(options: GroupPropertiesOptions<Request, Answer, Event>) {
    this.#options = options;
    const { history, voters, diskOf } = options;
    this.#committed = new CommittedChecker({
      history,
      disks: () => voters().map(diskOf),
      onCommitted: (entry) => this.#onCommitted(entry),
    });
  }

  onStep(step: Step): void {
    const { history, diskOf } = this.#options;
    this.#leaders.onStep(step);
    checkLogMatching(history, step);
    checkLeaderLog(history, step);
    this.#committed.onStep(step);
    checkMatchIndexes(step, diskOf);
    checkSnapshots(history, step);
  }

  onSend(server: ServerId, self: ReplicaId, outbound: Outbound): void {
    this.#leaders.onSend(server, outbound);
    checkDurable(this.#options.diskOf(self), outbound, self);
    checkOffer(this.#options.history, server, outbound);
  }

  onApplied(
    who: string,
    machine: GroupMachine<Request, Answer, Event>,
    meta: EntryMeta,
    applied: AppliedEntry<Answer, Event>,
  ): void {
    this.#options.oracle.check(who, machine, meta, applied);
  }

  /** A replica's machine holds this state, which its snapshot stands for or has given it. */
  onState(who: string, index: number, digest: string): void {
    this.#options.oracle.checkState(who, index, digest);
  }

  onRestart(server: ServerId, core: RaftCore): void {
    this.#leaders.onRestart(server, core.term);
    const { commitIndex } = core.status();
    this.#committed.onRestart(server, commitIndex, (index) => core.entryAt(index as LogIndex));
  }

  onCut(entries: readonly Entry[], byTerm: number): void {
    this.#committed.onCut(entries, byTerm);
  }

  #onCommitted(entry: Entry): void {
    const { history, oracle, ownersAreBound } = this.#options;
    const made = history.madeAt(entry);
    must(made !== undefined, 3, `nobody has made ${entry.term}/${entry.index}`);
    if (ownersAreBound) this.#logTime.onCommitted(made);
    oracle.onCommitted(entry);
  }
}

/** The checkers of both groups, whatever their machines. */
export interface Properties {
  readonly root: GroupProperties<never, never, never>;
  readonly shard: GroupProperties<never, never, never>;
}
