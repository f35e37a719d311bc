// The text of the cadastre_* series, and the histogram behind log_sync_seconds.
import { expect, test } from "vitest";
import { DurationHistogram } from "../../src/admin/duration-histogram.ts";
import { metricsText } from "../../src/admin/metrics.ts";
import { FakePort } from "./fake-port.ts";

test("each series has help, a type, and samples with labels", () => {
  const lines = metricsText(new FakePort().metrics()).split("\n");
  expect(lines).toContain("# TYPE cadastre_has_leader gauge");
  expect(lines).toContain('cadastre_has_leader{group="0"} 1');
  expect(lines).toContain('cadastre_is_leader{group="0"} 0');
  expect(lines).toContain('cadastre_applied_index{group="0"} 39');
  expect(lines).toContain("# TYPE cadastre_proposals_total counter");
  expect(lines).toContain('cadastre_proposals_total{group="0",result="applied"} 7');
  expect(lines).toContain('cadastre_reads_total{group="0",consistency="linearizable"} 9');
  expect(lines).toContain('cadastre_log_bytes{group="0"} 2048');
  expect(lines).toContain('cadastre_snapshot_index{group="0"} 35');
  expect(lines).toContain('cadastre_checkpoints_total{group="0",result="failed"} 1');
  expect(lines).toContain('cadastre_checkpoint_seconds_total{group="0"} 0.25');
  expect(lines).toContain('cadastre_last_checkpoint_bytes{group="0"} 4096');
  expect(lines).toContain('cadastre_snapshot_fetches_total{group="0",result="installed"} 1');
  expect(lines).toContain('cadastre_snapshot_sends_total{result="refused"} 4');
  expect(lines).toContain("cadastre_snapshot_sends 1");
  expect(lines).toContain("cadastre_watches 6");
  expect(lines).toContain('cadastre_renewals_total{result="renewed"} 100');
});

test("a histogram is cumulative and ends with the sum and the count", () => {
  const text = metricsText(new FakePort().metrics());
  expect(text.slice(text.indexOf("# HELP cadastre_log_sync_seconds"))).toBe(
    [
      "# HELP cadastre_log_sync_seconds Synced writes to the log store.",
      "# TYPE cadastre_log_sync_seconds histogram",
      'cadastre_log_sync_seconds_bucket{le="0.001"} 5',
      'cadastre_log_sync_seconds_bucket{le="0.01"} 7',
      'cadastre_log_sync_seconds_bucket{le="+Inf"} 8',
      "cadastre_log_sync_seconds_sum 0.5",
      "cadastre_log_sync_seconds_count 8",
      "",
    ].join("\n"),
  );
});

test("names follow the conventions: _total for counters only, no other units than seconds", () => {
  const port = new FakePort();
  const types = metricsText(port.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  for (const [, name = "", type = ""] of types) {
    expect(name).toMatch(/^cadastre_[a-z_]+$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect([name, name.endsWith("_seconds")]).toEqual([name, type === "histogram"]);
  }
});

test("a series without a value yet has no sample", () => {
  const port = new FakePort();
  const groups = port.metricsSnapshot.groups.map((group) => ({
    ...group,
    lastCheckpointBytes: undefined,
  }));
  port.metricsSnapshot = { ...port.metricsSnapshot, groups };
  expect(metricsText(port.metrics())).not.toMatch(/^cadastre_last_checkpoint_bytes/m);
});

test("quotes and line breaks in labels are escaped", () => {
  const port = new FakePort();
  port.metricsSnapshot = { ...port.metricsSnapshot, renewals: { 'a"b\\\n': 1 } };
  expect(metricsText(port.metrics())).toContain('{result="a\\"b\\\\\\n"} 1\n');
});

test("an observation falls into the first bucket whose bound it does not exceed", () => {
  const histogram = new DurationHistogram([0.001, 0.01]);
  for (const ms of [0.5, 1, 1.5, 10, 11]) histogram.observeMs(ms);
  const { counts, sumSeconds } = histogram.snapshot();
  expect(counts).toEqual([2, 2, 1]);
  expect(sumSeconds).toBeCloseTo(0.024);
});
