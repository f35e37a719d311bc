/**
 * What servers must know of each other's stores before one heeds the other (law 30, decision 0012):
 * a server is its store, a store that lost what it promised is noticed by those who saw the
 * promise, and whoever is told so takes no part any more.
 *
 * The port to what a server remembers durably, and the comparison of what was seen with what is.
 */

import type { GroupId, LogIndex, ServerId, Term } from "../base/brands.ts";
import type { Envelope } from "../raft/messages.ts";
import type { Hello, SeenAcknowledged } from "../wire/peer-forward.ts";
import { distrusted, otherStore, type Refusal, type RefusalReason } from "./handshake.ts";

export interface Standing {
  /** Of this server's store. */
  readonly storeUuid: string;
  /** Why this server takes no part, for good; undefined: it does, or may yet. */
  readonly distrust: () => string | undefined;
  /** The store that a peer is known by, perhaps not durably yet. */
  readonly storeOf: (peer: ServerId) => string | undefined;
  /** Whether that is durable: only then is the peer heeded. */
  readonly isRemembered: (peer: ServerId) => boolean;
  /**
   * Makes a store the one that the peer is known by, unless there is one. Resolves when the peer
   * is remembered; perhaps never.
   */
  readonly remember: (peer: ServerId, storeUuid: string) => Promise<void>;
  /** What each group's log was when this process opened it. */
  readonly opened: ReadonlyMap<GroupId, OpenedLog>;
  /** A peer has durably remembered this server's store. Called at every new stream. */
  readonly onRemembered: (peer: ServerId) => void;
  /** This server must take no part any more, and why: `what` is for people. */
  readonly onDisowned: (what: string) => void;
}

export interface OpenedLog {
  readonly term: Term;
  readonly votedFor: ServerId | undefined;
  readonly lastIndex: LogIndex;
}

/** A standing for servers that forget everything with their process: tests and simulations. */
export function volatileStanding(storeUuid: string): Standing {
  const stores = new Map<ServerId, string>();
  return {
    storeUuid,
    distrust: () => undefined,
    storeOf: (peer) => stores.get(peer),
    isRemembered: (peer) => stores.has(peer),
    remember: (peer, uuid) => {
      if (!stores.has(peer)) stores.set(peer, uuid);
      return Promise.resolve();
    },
    opened: new Map(),
    onRemembered: () => {},
    onDisowned: () => {},
  };
}

const NOTHING = 0 as LogIndex;

/** The most that one peer was seen to acknowledge, by group. */
export class SeenByGroup {
  readonly #seen = new Map<GroupId, SeenAcknowledged>();

  get all(): readonly SeenAcknowledged[] {
    return [...this.#seen.values()];
  }

  /** A message from the peer's process of that nonce. Whatever it says, its term was durable. */
  note({ group, message }: Envelope, bootNonce: string): void {
    const isAccepted = message.kind === "appendEntriesReply" && message.result.kind === "accepted";
    const index = isAccepted ? message.result.matchIndex : NOTHING;
    const voted = message.kind === "requestVoteReply" && message.granted;
    this.#grow({ group, term: message.term, index, voted, bootNonce });
  }

  #grow(one: SeenAcknowledged): void {
    const before = this.#seen.get(one.group);
    if (before === undefined || one.term > before.term) {
      this.#seen.set(one.group, one);
      return;
    }
    const isNews = one.index > before.index || (one.voted && !before.voted);
    if (one.term < before.term || !isNews) return;
    const index = Math.max(one.index, before.index) as LogIndex;
    this.#seen.set(one.group, { ...one, index, voted: one.voted || before.voted });
  }
}

/**
 * Why the sender of a Hello is not heeded, or this server must not speak to it: what it says of
 * this server's store is asked first. To be asked again whenever the world may have changed.
 */
export function refusalByStores(
  hello: Pick<Hello, "from" | "storeUuid" | "acknowledged">,
  { standing, bootNonce }: { readonly standing: Standing; readonly bootNonce: string },
): Refusal | undefined {
  const own = { opened: standing.opened, bootNonce, by: hello.from };
  const lost = lostSince(hello.acknowledged, own);
  if (lost !== undefined) {
    standing.onDisowned(lost);
    return distrusted(lost);
  }
  const distrust = standing.distrust();
  if (distrust !== undefined) return distrusted(distrust);
  const known = standing.storeOf(hello.from);
  return known === undefined || known === hello.storeUuid ? undefined : otherStore(hello.from);
}

/** What the peer has said in place of a Hello, or after it. */
export function heedRefusal(
  peer: ServerId,
  { reason, details }: { readonly reason: string; readonly details: string },
  standing: Pick<Standing, "onDisowned">,
): void {
  if (reason === OTHER_STORE) standing.onDisowned(`server ${peer} says: ${details}`);
}

/** The one reason that obliges whoever is told it to take no part any more. */
const OTHER_STORE: RefusalReason = "otherStore";

/**
 * What a peer saw an earlier process of this server acknowledge, and its log did not hold when this
 * one opened it; in words, undefined when there is nothing. Of its own acknowledgements a process
 * needs no telling: what it sent was durable, and it has been there ever since.
 */
export function lostSince(
  seen: readonly SeenAcknowledged[],
  own: { readonly opened: Standing["opened"]; readonly bootNonce: string; readonly by: ServerId },
): string | undefined {
  for (const one of seen) {
    if (one.bootNonce === own.bootNonce) continue;
    const lag = lagOf(one, own.opened.get(one.group), own.by);
    if (lag === undefined) continue;
    const told = `index ${one.index} in term ${one.term}${one.voted ? ", and its vote" : ""}`;
    return `server ${own.by} saw this server acknowledge ${told} in group ${one.group}, and ${lag}`;
  }
  return undefined;
}

function lagOf(
  seen: SeenAcknowledged,
  log: OpenedLog | undefined,
  by: ServerId,
): string | undefined {
  if (log === undefined) return "its store has no such group";
  if (log.term > seen.term) return undefined;
  if (log.term < seen.term) return `its store was at term ${log.term}`;
  if (seen.voted && log.votedFor !== by) return "its store had no such vote";
  // While a term lasts, what was acknowledged in it is never truncated.
  return log.lastIndex < seen.index ? `its log ended at ${log.lastIndex}` : undefined;
}
