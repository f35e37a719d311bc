// The status screen: the verdict first, then groups, servers, keyspaces and storage nodes; and the
// same as JSON.
import { styleText } from "node:util";
import type { ClusterStatus, KeyspaceRecord, NodeRecord } from "../../wire/api.ts";
import type { JsonValue } from "../context.ts";
import { durationToText } from "../render/duration.ts";
import { keyspaceJson } from "../render/json.ts";
import { type Column, countText, groupDigits, tableLines } from "../render/table.ts";
import type { ClusterHealth, GroupHealth, ServerHealth, Verdict } from "./cluster-health.ts";

/** What the directory holds, or why that is not known. */
export type ContentsView =
  | { readonly keyspaces: readonly KeyspaceRecord[]; readonly nodes: readonly NodeRecord[] }
  | string;

const VERDICT_TEXT: Readonly<Record<Verdict, string>> = {
  healthy: "healthy",
  degraded: "degraded",
  noLeader: "no leader",
  noQuorum: "no quorum",
};
const VERDICT_COLOR = {
  healthy: "green",
  degraded: "yellow",
  noLeader: "red",
  noQuorum: "red",
} as const;

const GROUP_COLUMNS: readonly Column[] = [
  { title: "GROUP" },
  { title: "LEADER" },
  { title: "TERM", align: "right" },
  { title: "COMMIT", align: "right" },
  { title: "APPLIED", align: "right" },
  { title: "REPLICAS" },
];
const SERVER_COLUMNS: readonly Column[] = [
  { title: "SERVER" },
  { title: "ADDRESS" },
  { title: "ROLE" },
  { title: "LAG", align: "right" },
  { title: "UP", align: "right" },
  { title: "ANSWER" },
];
const KEYSPACE_COLUMNS: readonly Column[] = [
  { title: "KEYSPACE" },
  { title: "RANGES", align: "right" },
  { title: "UNOWNED", align: "right" },
];

export function statusText(
  health: ClusterHealth,
  cluster: ClusterStatus | undefined,
  contents: ContentsView,
  color: boolean,
): string {
  const blocks = [headLines(health, cluster, color)];
  if (health.groups.length > 0) {
    blocks.push(tableLines(GROUP_COLUMNS, health.groups.map(groupRow), { color }));
  }
  blocks.push(tableLines(SERVER_COLUMNS, health.servers.map(serverRow), { color }));
  blocks.push(contentsLines(contents, color));
  return blocks.map((lines) => lines.join("\n")).join("\n\n");
}

export function statusJson(
  health: ClusterHealth,
  cluster: ClusterStatus | undefined,
  contents: ContentsView,
): JsonValue {
  const isKnown = typeof contents !== "string";
  return {
    verdict: health.verdict,
    canLose: health.canLose,
    clusterName: cluster?.clusterName ?? null,
    clusterId: cluster?.header.clusterId ?? null,
    productVersion: cluster?.productVersion ?? null,
    groups: health.groups.map((group) => ({
      group: group.group,
      leaderServerId: group.leaderServerId ?? null,
      term: String(group.term),
      commitIndex: String(group.commitIndex),
      appliedIndex: String(group.appliedIndex),
      replicas: group.replicas,
      aliveReplicas: group.aliveReplicas,
      quorum: group.quorum,
    })),
    servers: health.servers.map((server) => ({
      serverId: server.serverId ?? null,
      address: server.address,
      reachable: server.error === undefined,
      error: server.error ?? null,
      abstention: server.abstention ?? null,
      answerMs: server.answerMs ?? null,
      leads: server.leads ?? null,
      uptimeMs: server.uptimeMs === undefined ? null : String(server.uptimeMs),
      appliedLag: server.appliedLag === undefined ? null : String(server.appliedLag),
    })),
    keyspaces: isKnown ? contents.keyspaces.map(keyspaceJson) : null,
    nodeCount: isKnown ? contents.nodes.length : null,
    nodesWithoutSession: isKnown ? contents.nodes.filter((one) => !one.sessionOpen).length : null,
    contentsError: isKnown ? null : contents,
  };
}

function headLines(
  health: ClusterHealth,
  cluster: ClusterStatus | undefined,
  color: boolean,
): string[] {
  const { verdict, answering, serverCount, canLose } = health;
  const word = VERDICT_TEXT[verdict];
  const shown = color
    ? styleText([VERDICT_COLOR[verdict], "bold"], word, { validateStream: false })
    : word;
  const verdictLine = `${shown}: ${answering} of ${countText(serverCount, "server")} ${
    answering === 1 ? "answers" : "answer"
  }; ${consequence(verdict, canLose)}`;
  if (cluster === undefined) return [verdictLine];
  const { clusterName, productVersion, header } = cluster;
  return [verdictLine, `cluster ${clusterName} (${header.clusterId}), version ${productVersion}`];
}

function consequence(verdict: Verdict, canLose: number): string {
  if (verdict === "noQuorum")
    return "nothing is changed or answered but local reads until more are back";
  if (verdict === "noLeader") return "an election is under way";
  return canLose === 0
    ? "it cannot lose another server"
    : `it can lose ${countText(canLose, "more server")}`;
}

function groupRow(group: GroupHealth): string[] {
  return [
    group.group === 0 ? "0 root" : `${group.group} shard`,
    group.leaderServerId === undefined ? "none" : `server ${group.leaderServerId}`,
    String(group.term),
    groupDigits(group.commitIndex),
    groupDigits(group.appliedIndex),
    `${group.aliveReplicas} of ${group.replicas}, quorum ${group.quorum}`,
  ];
}

function serverRow(server: ServerHealth): string[] {
  const { serverId, address, appliedLag, uptimeMs } = server;
  return [
    serverId === undefined ? "?" : String(serverId),
    address,
    roleText(server),
    appliedLag === undefined ? "-" : groupDigits(appliedLag),
    uptimeMs === undefined ? "-" : durationToText(uptimeMs),
    answerText(server),
  ];
}

function roleText({ leads, abstention }: ServerHealth): string {
  if (abstention !== undefined) return "none";
  if (leads === undefined) return "-";
  return leads.length === 0 ? "follower" : `leads ${leads.join(", ")}`;
}

function answerText({ address, answerMs, error, abstention }: ServerHealth): string {
  if (abstention !== undefined) return `TAKES NO PART, ${abstention}`;
  if (error === undefined) return `ok, ${durationToText(answerMs ?? 0)}`;
  return `ERROR ${error.startsWith(`${address}: `) ? error.slice(address.length + 2) : error}`;
}

function contentsLines(contents: ContentsView, color: boolean): string[] {
  if (typeof contents === "string") return [`keyspaces unknown: ${contents}`];
  const { keyspaces, nodes } = contents;
  const rows = keyspaces.map((keyspace) => [
    keyspace.name,
    groupDigits(keyspace.rangeCount),
    groupDigits(keyspace.unownedCount),
  ]);
  const away = nodes.filter((node) => !node.sessionOpen).length;
  const without = away === 0 ? "" : `, ${away} without a session`;
  const nodesLine = `${countText(nodes.length, "storage node")}${without}`;
  if (rows.length === 0) return ["no keyspaces", nodesLine];
  return [...tableLines(KEYSPACE_COLUMNS, rows, { color }), "", nodesLine];
}
