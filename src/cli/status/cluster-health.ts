// From the answers of single servers to one verdict on the cluster: which groups have a leader and
// a quorum, how many more servers may be lost, which server is behind. Pure; no answer is a fact,
// too.
import type { ServerId, Term } from "../../base/brands.ts";
import type { ClusterStatus, GroupStatus, ServerStatus } from "../../wire/api.ts";

/** What one address answered. */
export interface ServerAnswer {
  readonly address: string;
  readonly elapsedMs: number;
  /** A status, or why there is none. */
  readonly status: ClusterStatus | undefined;
  readonly error: string | undefined;
}

export interface GroupHealth {
  readonly group: number;
  /** undefined: none that anybody reaches. */
  readonly leaderServerId: ServerId | undefined;
  readonly term: Term;
  readonly commitIndex: number;
  /** The leader's; the largest that was heard of when the leader does not answer here. */
  readonly appliedIndex: number;
  readonly replicas: number;
  /** Replicas on servers that answer here, or that the group's leader reaches. */
  readonly aliveReplicas: number;
  readonly quorum: number;
}

export interface ServerHealth {
  /** undefined: nobody says which server this address is. */
  readonly serverId: ServerId | undefined;
  readonly address: string;
  readonly answerMs: number | undefined;
  readonly error: string | undefined;
  /** Why it takes no part in any group, as it says itself. */
  readonly abstention: string | undefined;
  /** Groups that it leads; undefined: it does not answer. */
  readonly leads: readonly number[] | undefined;
  readonly uptimeMs: number | undefined;
  /** Entries that are committed and that it has not applied, in the group that is most behind. */
  readonly appliedLag: number | undefined;
}

/** "degraded": it serves, but something is wrong. "noLeader": a quorum lives, nobody leads yet. */
export type Verdict = "healthy" | "degraded" | "noLeader" | "noQuorum";

export interface ClusterHealth {
  readonly verdict: Verdict;
  /** Servers that may still be lost in the worst case. */
  readonly canLose: number;
  readonly serverCount: number;
  readonly answering: number;
  readonly groups: readonly GroupHealth[];
  readonly servers: readonly ServerHealth[];
}

/** More entries than a healthy follower is ever behind for longer than a moment. */
const LAG_MAX = 1_000;

export function clusterHealth(answers: readonly ServerAnswer[]): ClusterHealth {
  const statuses = answers.flatMap(({ status }) => (status === undefined ? [] : [status]));
  const members = membersOf(statuses);
  const active = new Map(members);
  // A server without a part in its groups counts for nothing in them, whatever it holds.
  const parts = statuses.filter(({ abstention }) => abstention === undefined);
  const idle = statuses.filter(({ abstention }) => abstention !== undefined);
  for (const { header } of idle) active.delete(header.serverId);
  const groupIds = [...new Set(parts.flatMap(({ groups }) => groups.map((one) => one.group)))];
  const groups = groupIds
    .toSorted((a, b) => a - b)
    .map((group) => groupHealth(group, parts, members, active));
  const commits = new Map(groups.map(({ group, commitIndex }) => [group, commitIndex]));
  const servers = serverRows(answers, members, commits);
  const answering = servers.filter(({ error }) => error === undefined).length;
  const spare = groups.map(({ aliveReplicas, quorum }) => aliveReplicas - quorum);
  return {
    verdict: verdictOf(groups, servers),
    canLose: Math.max(0, spare.length === 0 ? 0 : Math.min(...spare)),
    serverCount: Math.max(members.size, servers.length),
    answering,
    groups,
    servers,
  };
}

/** Whom to ask beside those that were: servers named by an answer, none of which answered. */
export function unaskedAddresses(answers: readonly ServerAnswer[]): string[] {
  const statuses = answers.flatMap(({ status }) => (status === undefined ? [] : [status]));
  const answered = new Set(statuses.map(({ header }) => header.serverId));
  const asked = new Set(answers.map(({ address }) => address));
  const addresses = [...membersOf(statuses).values()]
    .filter(({ serverId }) => !answered.has(serverId))
    .map(({ grpcAddress }) => grpcAddress);
  return addresses.filter((address) => address !== "" && !asked.has(address));
}

function verdictOf(groups: readonly GroupHealth[], servers: readonly ServerHealth[]): Verdict {
  if (groups.length === 0) return "noQuorum";
  if (groups.some(({ aliveReplicas, quorum }) => aliveReplicas < quorum)) return "noQuorum";
  if (groups.some(({ leaderServerId }) => leaderServerId === undefined)) return "noLeader";
  const isWell = servers.every(
    ({ error, abstention, appliedLag }) =>
      error === undefined && abstention === undefined && (appliedLag ?? 0) <= LAG_MAX,
  );
  return isWell ? "healthy" : "degraded";
}

/** The members by id, as the newest answer names them. */
function membersOf(statuses: readonly ClusterStatus[]): Map<ServerId, ServerStatus> {
  const oldestFirst = statuses.toSorted((a, b) => a.header.revision - b.header.revision);
  const newest = oldestFirst.at(-1);
  const members = (newest?.servers ?? []).map((server) => [server.serverId, server] as const);
  return new Map(members.toSorted(([a], [b]) => a - b));
}

function groupHealth(
  group: number,
  statuses: readonly ClusterStatus[],
  members: ReadonlyMap<ServerId, ServerStatus>,
  active: ReadonlyMap<ServerId, ServerStatus>,
): GroupHealth {
  const views = statuses.flatMap((status) =>
    status.groups.filter((one) => one.group === group).map((view) => ({ status, view })),
  );
  const newestFirst = views.toSorted((a, b) => b.view.term - a.view.term);
  const leading = newestFirst.find(({ view }) => view.role === "leader");
  const answered = new Set(views.map(({ status }) => status.header.serverId));
  const reached = new Set(
    (leading?.status.servers ?? []).filter((one) => one.reachable).map((one) => one.serverId),
  );
  // Only a leader knows all the replicas; without one, every member is taken to hold one.
  const holders = new Set(leading?.view.replicas.map((one) => one.serverId) ?? members.keys());
  const alive = [...holders].filter(
    (server) => active.has(server) && (answered.has(server) || reached.has(server)),
  );
  const newest = newestFirst[0]?.view;
  const largest = (of: (view: GroupStatus) => number): number =>
    Math.max(0, ...views.map(({ view }) => of(view)));
  return {
    group,
    leaderServerId: leading?.status.header.serverId ?? claimedLeader(newest, statuses, answered),
    term: newest?.term ?? (0 as Term),
    commitIndex: largest((view) => view.commitIndex),
    appliedIndex: leading?.view.appliedIndex ?? largest((view) => view.appliedIndex),
    replicas: holders.size,
    aliveReplicas: alive.length,
    quorum: Math.floor(holders.size / 2) + 1,
  };
}

/** A leader that does not answer here counts when some server that does reaches it. */
function claimedLeader(
  newest: GroupStatus | undefined,
  statuses: readonly ClusterStatus[],
  answered: ReadonlySet<ServerId>,
): ServerId | undefined {
  const claimed = newest?.leaderServerId;
  if (claimed === undefined || answered.has(claimed)) return undefined;
  const isReached = statuses.some(({ servers }) =>
    servers.some(({ serverId, reachable }) => serverId === claimed && reachable),
  );
  return isReached ? claimed : undefined;
}

function serverRows(
  answers: readonly ServerAnswer[],
  members: ReadonlyMap<ServerId, ServerStatus>,
  commits: ReadonlyMap<number, number>,
): ServerHealth[] {
  const rows: ServerHealth[] = [];
  const seen = new Set<ServerId>();
  for (const { address, elapsedMs, status } of answers) {
    if (status === undefined || seen.has(status.header.serverId)) continue;
    const { serverId } = status.header;
    seen.add(serverId);
    const { abstention } = status;
    const groups = abstention === undefined ? status.groups : [];
    const lags = groups.map((one) => (commits.get(one.group) ?? 0) - one.appliedIndex);
    rows.push({
      serverId,
      address: members.get(serverId)?.grpcAddress ?? address,
      answerMs: elapsedMs,
      error: undefined,
      abstention: abstention && `${abstention.reason}: ${abstention.details}`,
      leads: groups.filter(({ role }) => role === "leader").map(({ group }) => group),
      uptimeMs: status.uptimeMs,
      appliedLag: Math.max(0, ...lags),
    });
  }
  const silent = {
    abstention: undefined,
    answerMs: undefined,
    leads: undefined,
    uptimeMs: undefined,
    appliedLag: undefined,
  };
  for (const { address, status, error } of answers) {
    if (status !== undefined) continue;
    const member = [...members.values()].find(({ grpcAddress }) => grpcAddress === address);
    if (member !== undefined && seen.has(member.serverId)) continue;
    if (member !== undefined) seen.add(member.serverId);
    rows.push({ serverId: member?.serverId, address, error: error ?? "no answer", ...silent });
  }
  return rows.toSorted((a, b) => (a.serverId ?? Infinity) - (b.serverId ?? Infinity));
}
