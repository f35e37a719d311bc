// The series of /metrics. Those of the process and its event loop are prom-client's; those of
// Cadastre are a table from the snapshot of the port to samples, written in the text format
// 0.0.4. Base units, `_total` for counters; a series that exists keeps its name.
import type { GroupMetrics, HistogramSnapshot, MetricsSnapshot } from "./port.ts";

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

interface Series {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  samples(snapshot: MetricsSnapshot): readonly Sample[];
}

/** The text of all `cadastre_*` series, each line ended. */
export function metricsText(snapshot: MetricsSnapshot): string {
  const series = SERIES.map((one) => {
    const lines = one
      .samples(snapshot)
      .map(({ labels, value }) => `${one.name}${labelsText(labels)} ${numberText(value)}\n`);
    return `${headText(one.name, one.type, one.help)}${lines.join("")}`;
  });
  const { logSync } = snapshot;
  return `${series.join("")}${logSync === undefined ? "" : histogramText(LOG_SYNC, logSync)}`;
}

const LOG_SYNC = {
  name: "cadastre_log_sync_seconds",
  help: "Synced writes to the log store.",
};

const SERIES: readonly Series[] = [
  gauge("has_leader", "1 when a leader of the group is known.", (g) => Number(g.hasLeader)),
  gauge("is_leader", "1 when this server leads the group.", (g) => Number(g.isLeader)),
  gauge("term", "Raft term of the group.", (g) => g.term),
  gauge("commit_index", "Last index known to be committed.", (g) => g.commitIndex),
  gauge("applied_index", "Last index applied to the state machine.", (g) => g.appliedIndex),
  gauge("last_index", "Last index of the log.", (g) => g.lastIndex),
  gauge("log_entries", "Entries held in the log.", (g) => g.logEntries),
  gauge("log_bytes", "Bytes of the entries held in the log.", (g) => g.logBytes),
  gauge("log_base_index", "Index before the first entry held in the log.", (g) => g.baseIndex),
  gauge("snapshot_index", "Index of the snapshot a restart begins with.", (g) => g.snapshotIndex),
  gauge("proposals_pending", "Proposals that wait for their result.", (g) => g.proposalsPending),
  {
    name: "cadastre_leader_changes_total",
    type: "counter",
    help: "Changes of the group's leader seen by this server.",
    samples: ({ groups }) => groups.map((g) => ({ labels: groupLabel(g), value: g.leaderChanges })),
  },
  {
    name: "cadastre_proposals_total",
    type: "counter",
    help: "Proposals of this server by how they ended.",
    samples: ({ groups }) => groups.flatMap((g) => byLabel("result", g.proposals, groupLabel(g))),
  },
  {
    name: "cadastre_reads_total",
    type: "counter",
    help: "Reads answered by this server by consistency.",
    samples: ({ groups }) => groups.flatMap((g) => byLabel("consistency", g.reads, groupLabel(g))),
  },
  {
    name: "cadastre_checkpoints_total",
    type: "counter",
    help: "Checkpoints of the group's state by how they ended.",
    samples: ({ groups }) => groups.flatMap((g) => byLabel("result", g.checkpoints, groupLabel(g))),
  },
  {
    name: "cadastre_checkpoint_seconds_total",
    type: "counter",
    help: "Time spent on checkpoints that were taken.",
    samples: ({ groups }) =>
      groups.map((g) => ({ labels: groupLabel(g), value: g.checkpointSeconds })),
  },
  {
    name: "cadastre_last_checkpoint_bytes",
    type: "gauge",
    help: "Size of the last checkpoint taken by this process.",
    samples: ({ groups }) =>
      groups.flatMap(({ lastCheckpointBytes: value, ...g }) =>
        value === undefined ? [] : [{ labels: groupLabel(g), value }],
      ),
  },
  {
    name: "cadastre_snapshot_fetches_total",
    type: "counter",
    help: "Snapshots fetched from other servers by how that ended.",
    samples: ({ groups }) =>
      groups.flatMap((g) => byLabel("result", g.snapshotFetches, groupLabel(g))),
  },
  {
    name: "cadastre_snapshot_received_bytes_total",
    type: "counter",
    help: "Bytes of snapshots received from other servers.",
    samples: ({ groups }) =>
      groups.map((g) => ({ labels: groupLabel(g), value: g.snapshotReceivedBytes })),
  },
  {
    name: "cadastre_snapshot_sends",
    type: "gauge",
    help: "Snapshots being sent to other servers.",
    samples: ({ snapshotSends }) => [{ labels: {}, value: snapshotSends.active }],
  },
  {
    name: "cadastre_snapshot_sends_total",
    type: "counter",
    help: "Snapshots sent to other servers by how that ended.",
    samples: ({ snapshotSends }) => byLabel("result", snapshotSends.results, {}),
  },
  {
    name: "cadastre_snapshot_sent_bytes_total",
    type: "counter",
    help: "Bytes of snapshots sent to other servers.",
    samples: ({ snapshotSends }) => [{ labels: {}, value: snapshotSends.sentBytes }],
  },
  {
    name: "cadastre_watches",
    type: "gauge",
    help: "Open watch streams.",
    samples: ({ watches }) => [{ labels: {}, value: watches }],
  },
  {
    name: "cadastre_renewals_total",
    type: "counter",
    help: "Renewals of sessions by how they ended.",
    samples: ({ renewals }) => byLabel("result", renewals, {}),
  },
];

function gauge(name: string, help: string, valueOf: (group: GroupMetrics) => number): Series {
  return {
    name: `cadastre_${name}`,
    type: "gauge",
    help,
    samples: ({ groups }) => groups.map((g) => ({ labels: groupLabel(g), value: valueOf(g) })),
  };
}

function groupLabel({ group }: Pick<GroupMetrics, "group">): Labels {
  return { group: String(group) };
}

function byLabel(
  name: string,
  counts: Readonly<Record<string, number>>,
  labels: Labels,
): readonly Sample[] {
  return Object.entries(counts).map(([key, value]) => ({
    labels: { ...labels, [name]: key },
    value,
  }));
}

function histogramText(
  { name, help }: { readonly name: string; readonly help: string },
  { boundsSeconds, counts, sumSeconds }: HistogramSnapshot,
): string {
  let total = 0;
  const buckets = [...boundsSeconds, Infinity].map((bound, index) => {
    total += counts[index] ?? 0;
    return `${name}_bucket{le="${numberText(bound)}"} ${total}\n`;
  });
  const sums = `${name}_sum ${numberText(sumSeconds)}\n${name}_count ${total}\n`;
  return `${headText(name, "histogram", help)}${buckets.join("")}${sums}`;
}

function headText(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelsText(labels: Labels): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  return String(value);
}
