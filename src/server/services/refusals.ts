/**
 * From what machines and replicas refuse to what clients are told: the reason, one line with cause
 * and remedy, and the values in it as metadata.
 */

import type { GroupId, Revision, ServerId } from "../../base/brands.ts";
import type { RootRefused } from "../../machine/root/commands.ts";
import type { Refused } from "../../machine/shard/answers.ts";
import type { ReadPermission, SubmitFailure } from "../../replica/group-access.ts";
import type { Descriptor, Refusal } from "../../wire/api.ts";
import { refusal } from "../../wire/refusal.ts";
import type { Reason } from "../../wire/errors.ts";

/** What the words need to know of the group that failed. */
interface FailingGroup {
  readonly group: GroupId;
  readonly leaderServerId: ServerId | undefined;
  readonly replica: { readonly machine: { readonly revision: Revision } };
}

/** About one election: asking the same server sooner rarely helps. */
const NO_LEADER_RETRY_MS = 250;
const OVERLOAD_RETRY_MS = 100;
/** Room comes from clients that acknowledge with their next request, or with the time. */
const MEMORY_FULL_RETRY_MS = 1_000;

/** A read that this replica may not answer. */
export function refuseUnavailable(
  group: FailingGroup,
  permission: Exclude<ReadPermission, { readonly kind: "ready" }>,
): Refusal {
  const revision = String(group.replica.machine.revision);
  const metadata = { group: String(group.group), revision };
  if (permission.kind === "otherGeneration") {
    const message = `the revision asked for is of another generation; this group is at ${revision}`;
    return refusal("INVALID", message, { metadata, field: "read.at_least_revision" });
  }
  switch (permission.reason) {
    case "behind": {
      const message = `this server has revision ${revision}, not the one asked for; try another`;
      return refusal("TRANSIENT", message, { metadata, retryAfterMs: OVERLOAD_RETRY_MS });
    }
    case "overloaded":
      return refusal("OVERLOADED", "too many reads are waiting here; try again later", {
        metadata,
        retryAfterMs: OVERLOAD_RETRY_MS,
      });
    case "noLeader":
      return refuseNoLeader(group, metadata);
  }
}

/** A request that did not get an answer from its group. */
export function refuseSubmit(
  group: FailingGroup,
  failure: { readonly outcome: "notApplied" | "unknown"; readonly reason: SubmitFailure },
): Refusal {
  const metadata = { group: String(group.group), cause: failure.reason };
  if (failure.outcome === "unknown") {
    const message = `it may have been applied (${failure.reason}); repeat the very same request`;
    return refusal("UNCERTAIN", message, { metadata, retryAfterMs: NO_LEADER_RETRY_MS });
  }
  if (failure.reason === "overloaded") {
    const message = `group ${group.group} has too much to commit; try again later`;
    return refusal("OVERLOADED", message, { metadata, retryAfterMs: OVERLOAD_RETRY_MS });
  }
  return refuseNoLeader(group, metadata);
}

function refuseNoLeader(group: FailingGroup, metadata: Readonly<Record<string, string>>): Refusal {
  const { leaderServerId } = group;
  const cause =
    leaderServerId === undefined
      ? `group ${group.group} has no leader that this server knows of`
      : `group ${group.group}'s leader, server ${leaderServerId}, did not answer in time`;
  const message = `${cause}; nothing was changed, try another server or again`;
  const leader = leaderServerId === undefined ? {} : { leader_server_id: String(leaderServerId) };
  return refusal("TRANSIENT", message, {
    metadata: { ...metadata, ...leader },
    retryAfterMs: NO_LEADER_RETRY_MS,
  });
}

interface Phrase {
  readonly reason: Reason;
  readonly text: (subject: string) => string;
  readonly field?: string;
  /** What a position belongs to: the field is a list, or is no list; else the request's items. */
  readonly position?: "inField" | "unrelated";
  readonly retryAfterMs?: number;
}

const REQUEST_ID_PHRASES = {
  requestIdReused: {
    reason: "REQUEST_ID_REUSED",
    text: (id) => `client ${id} used this request id for another request; make a new id`,
    field: "request_id",
  },
  requestIdExpired: {
    reason: "EXPIRED_ID",
    text: (id) =>
      `client ${id} acknowledged this request id, or made it too long ago; whether it ran is ` +
      `unknown, read the state`,
    field: "request_id",
  },
  requestMemoryFull: {
    reason: "OVERLOADED",
    text: () => "the group keeps as many unacknowledged answers as it can; try again later",
    retryAfterMs: MEMORY_FULL_RETRY_MS,
  },
  seenRevisionAhead: {
    reason: "INVALID",
    text: (id) => `client ${id} names a revision that does not exist yet; read one first`,
    field: "request_id.seen_revision",
  },
} as const satisfies Record<string, Phrase>;

const SHARD_PHRASES: Readonly<Record<Refused["reason"], Phrase>> = {
  ...REQUEST_ID_PHRASES,
  keyspaceNotFound: { reason: "NOT_FOUND", text: (id) => `the shard has no keyspace ${id}` },
  rangeNotFound: {
    reason: "NOT_FOUND",
    text: (id) => `there is no range ${id}; it may have been retired, list the ranges again`,
    field: "range_id",
  },
  invalidSplitKeys: {
    reason: "INVALID",
    text: () => "split keys must ascend, without repeats and without the empty key",
    field: "split_keys",
    position: "inField",
  },
  alreadyGranted: {
    reason: "ALREADY_GRANTED",
    text: () => "ranges of this keyspace have been granted before; its map is no longer replaced",
  },
  noSession: {
    reason: "NO_SESSION",
    text: (id) => `storage node ${id} has no open session; start it, or open one`,
  },
  sessionLive: {
    reason: "SESSION_LIVE",
    text: (id) => `an earlier process of storage node ${id} still holds leases; wait for their end`,
  },
  staleIncarnation: {
    reason: "STALE_INCARNATION",
    text: (id) =>
      `a newer process of storage node ${id} has registered; stop the older one, and grant to ` +
      `the newer when its session is open`,
  },
  staleEpoch: {
    reason: "STALE_EPOCH",
    text: (id) => `range ${id} has been granted anew since; read it again`,
    field: "expected_epoch",
  },
  epochAhead: {
    reason: "INVALID",
    text: (id) => `range ${id} has never had the epoch that the request expects`,
    field: "expected_epoch",
  },
  staleDescriptor: {
    reason: "STALE_EPOCH",
    text: (id) => `range ${id} has changed since it was read; read it again`,
    field: "expected_descriptor_revision",
  },
  leaseHeld: {
    reason: "LEASE_HELD",
    text: (id) => `range ${id} is owned; without only_unowned a successor would be recorded`,
  },
  successorRecorded: {
    reason: "SUCCESSOR_RECORDED",
    text: (id) => `range ${id} has another successor recorded; withdraw that one first`,
  },
  noSuccessor: {
    reason: "NOT_FOUND",
    text: (id) => `range ${id} has no successor recorded`,
  },
  repeatedRange: {
    reason: "INVALID",
    text: (id) => `range ${id} occurs twice in the request`,
    field: "range_id",
  },
  importIncomplete: {
    reason: "IMPORT_INCOMPLETE",
    text: (id) => `import ${id} is not staged as the commit says; stage it again`,
  },
  importOutOfOrder: {
    reason: "IMPORT_INCOMPLETE",
    text: (id) => `parts of import ${id} must be staged in order; go on after the last one`,
    field: "part",
    position: "unrelated",
  },
  importInvalid: {
    reason: "INVALID",
    text: (id) =>
      `import ${id}: rows must ascend from the empty key, within the bounds of staged imports`,
    field: "rows",
    position: "inField",
  },
  notOwner: { reason: "NOT_OWNER", text: (id) => `range ${id} is owned by another node` },
  sessionClosed: { reason: "SESSION_CLOSED", text: closedText },
};

/** Also of a renewal. */
export function closedText(nodeId: string): string {
  return (
    `storage node ${nodeId} has two processes of one incarnation (a copied machine); its leases ` +
    `run out: stop the copy, start the node again`
  );
}

/**
 * A shard's refusal. `revision` is that of the entry that decided it; `describe` gives the
 * descriptor of a range that it is about.
 */
export function refuseByShard(
  refused: Refused,
  revision: Revision,
  describe: (range: NonNullable<Refused["range"]>) => Descriptor,
): Refusal {
  const phrase = SHARD_PHRASES[refused.reason];
  const { subject, item, range, waitMs } = refused;
  const epoch = range === undefined ? "" : ` (epoch ${range.epoch})`;
  const wait = waitMs === undefined ? "" : ` (at most ${waitMs} ms)`;
  return refusal(phrase.reason, `${phrase.text(subject)}${epoch}${wait}`, {
    metadata: {
      subject,
      revision: String(revision),
      ...(item === undefined ? {} : { item: String(item) }),
      ...(range === undefined ? {} : { epoch: String(range.epoch) }),
      ...(waitMs === undefined ? {} : { wait_ms: String(waitMs) }),
    },
    field: fieldOf(phrase, item),
    descriptors: range === undefined ? [] : [describe(range)],
    retryAfterMs: phrase.reason === "SESSION_LIVE" ? retryAfter(waitMs) : phrase.retryAfterMs,
  });
}

/** Waits as long as the leases may last, but looks again now and then: they may end sooner. */
function retryAfter(waitMs: number | undefined): number {
  return Math.min(Math.max(waitMs ?? 0, 100), 1_000);
}

function fieldOf({ field, position }: Phrase, item: number | undefined): string | undefined {
  if (field === undefined || item === undefined || position === "unrelated") return field;
  return position === "inField" ? `${field}[${item}]` : `items[${item}].${field}`;
}

const ROOT_PHRASES: Readonly<Record<RootRefused["reason"], Phrase>> = {
  ...REQUEST_ID_PHRASES,
  clusterNotInitialised: {
    reason: "TRANSIENT",
    text: () => "the cluster is being initialised; try again",
    retryAfterMs: NO_LEADER_RETRY_MS,
  },
  keyspaceExists: {
    reason: "ALREADY_EXISTS",
    text: (name) => `keyspace "${name}" exists; choose another name`,
    field: "name",
  },
  keyspaceNotFound: { reason: "NOT_FOUND", text: (id) => `there is no keyspace ${id}` },
  tooManyKeyspaces: {
    reason: "INVALID",
    text: () => "the cluster has as many keyspaces as it may have; put the ranges into one of them",
    field: "name",
  },
  groupNotFound: { reason: "WRONG_GROUP", text: (group) => `there is no metadata shard ${group}` },
  nodeIdTaken: {
    reason: "NODE_ID_TAKEN",
    text: (id) =>
      `storage node id ${id} is bound to another data directory; use that one, or another id`,
    field: "node_id",
  },
};

/** As {@link refuseByShard}. */
export function refuseByRoot({ reason, subject }: RootRefused, revision: Revision): Refusal {
  const { reason: told, text, field, retryAfterMs } = ROOT_PHRASES[reason];
  const metadata = { subject, revision: String(revision) };
  return refusal(told, text(subject), { metadata, field, retryAfterMs });
}
