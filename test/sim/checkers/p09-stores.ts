/**
 * Property 9: what a server has promised binds it for ever. One whose store holds less than that
 * (lost, rolled back, another's) votes, acknowledges and leads no more.
 */

import type { GroupId, ServerId } from "../../../src/base/brands.ts";
import type { Envelope, Message } from "../../../src/raft/messages.ts";
import type { LoadedReplica } from "../../../src/replica/ports.ts";
import { must } from "../must.ts";

/** In the newest term that the server has spoken in, in one group. */
interface Promised {
  readonly term: number;
  /** A replica's id. */
  votedFor: number | undefined;
  /** Its log's end as it acknowledged it, or counted it as a leader. */
  index: number;
}

/** By server and group. */
type Promises = Map<string, Promised>;

/** What a store lacks of what was promised from it. */
export interface Lack {
  readonly what: string;
  /** The second record tells it, however late it may be (law 30). */
  readonly isRecorded: boolean;
}

export class StoresChecker {
  readonly #promised: Promises = new Map();
  /** By the server whose present process heard it. */
  readonly #heard = new Map<ServerId, Promises>();
  /** What their stores lack. */
  readonly #fallen = new Map<ServerId, string>();

  isFallen(server: ServerId): boolean {
    return this.#fallen.has(server);
  }

  /** The server sends this to one that heeds it. */
  onSend(server: ServerId, { group, from, to, message }: Envelope): void {
    const lack = this.#fallen.get(server);
    must(lack === undefined, 9, `server ${server} sends ${message.kind}, and ${lack}`);
    const promised = promisedIn(this.#promised, server, group, message.term);
    if (promised === undefined) return;
    note(promised, message, to);
    if (message.kind === "requestVote") promised.votedFor = from;
  }

  /** A leader has committed with its own copy of the log up to an index. */
  onCounted(server: ServerId, group: GroupId, term: number, index: number): void {
    const promised = promisedIn(this.#promised, server, group, term);
    if (promised !== undefined) promised.index = Math.max(promised.index, index);
  }

  /** What its process has heard ends with it. */
  onEnd(server: ServerId): void {
    this.#heard.delete(server);
  }

  onHeard(server: ServerId, from: ServerId, { group, to, message }: Envelope): void {
    const heard = this.#heard.get(server) ?? new Map<string, Promised>();
    this.#heard.set(server, heard);
    const promised = promisedIn(heard, from, group, message.term);
    if (promised !== undefined) note(promised, message, to);
  }

  /** Something has befallen the store, and a process opened it. undefined: nothing is lacking. */
  onOpened(server: ServerId, replicas: readonly LoadedReplica[]): Lack | undefined {
    const lack = lackOf(this.#promised, server, replicas);
    if (lack !== undefined) this.#fallen.set(server, lack.what);
    return lack;
  }

  /** The store can't be used any more. */
  fall(server: ServerId, lack: string): void {
    this.#fallen.set(server, lack);
  }

  /** Whose present processes have heard more than these hold. */
  witnesses(server: ServerId, replicas: readonly LoadedReplica[]): ServerId[] {
    return [...this.#heard].flatMap(([by, heard]) =>
      by === server || lackOf(heard, server, replicas) === undefined ? [] : [by],
    );
  }
}

/** What a message promises, but for a vote for oneself, which only its sender's store shows. */
function note(promised: Promised, message: Message, to: number): void {
  if (message.kind === "requestVoteReply" && message.granted) promised.votedFor = to;
  if (message.kind === "appendEntriesReply" && message.result.kind === "accepted") {
    promised.index = Math.max(promised.index, message.result.matchIndex);
  }
}

function lackOf(
  promises: Promises,
  server: ServerId,
  replicas: readonly LoadedReplica[],
): Lack | undefined {
  for (const { group, hardState, base, entries } of replicas) {
    const promised = promises.get(`${server}/${group}`);
    if (promised === undefined || hardState.term > promised.term) continue;
    const { term, votedFor, index } = promised;
    if (hardState.term < term) {
      return { what: `its store fell back from term ${term}`, isRecorded: true };
    }
    if (votedFor !== undefined && hardState.votedFor !== votedFor) {
      const what = `its store lost the vote for ${votedFor} in term ${term}`;
      return { what, isRecorded: true };
    }
    const { index: lastIndex } = entries.at(-1) ?? base;
    if (lastIndex >= index) continue;
    return { what: `its log fell back from ${index} in term ${term}`, isRecorded: false };
  }
  return undefined;
}

/** undefined: it has spoken in a later term. */
function promisedIn(
  promises: Promises,
  server: ServerId,
  group: GroupId,
  term: number,
): Promised | undefined {
  const key = `${server}/${group}`;
  const known = promises.get(key);
  if (known !== undefined && known.term >= term) return known.term === term ? known : undefined;
  const promised = { term, votedFor: undefined, index: 0 };
  promises.set(key, promised);
  return promised;
}
