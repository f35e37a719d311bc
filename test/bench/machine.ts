/** What the numbers of a run were measured on. */

import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Cleanups } from "./cleanups.ts";
import { etcdVersion } from "./etcd-cluster.ts";
import { h2loadVersion } from "./h2load.ts";
import { temporaryFolder } from "./processes.ts";

const SYNC_BYTES = 512;
const SYNC_MEASURE_MS = 500;
/** Of statfs, for a file system in memory, on which nothing is ever synced. */
const TMPFS_MAGIC = 0x0102_1994;

export function machineFacts(cleanups: Cleanups): Readonly<Record<string, string>> {
  const cpus = os.cpus();
  const load = os.loadavg().map((one) => one.toFixed(2));
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: `${cpus[0]?.model ?? "unknown"}, ${cpus.length} cores`,
    memory: `${Math.round(os.totalmem() / 1024 ** 3)} GiB`,
    system: `${os.type()} ${os.release()}`,
    "load before the run": load.join(" "),
    disk: diskFacts(cleanups),
    node: process.version,
    "grpc-js": grpcJsVersion(),
    etcd: etcdVersion() ?? "not installed",
    h2load: h2loadVersion() ?? "not installed",
  };
}

/** One after another, as a lone writer would: append, sync, append. */
function diskFacts(cleanups: Cleanups): string {
  const folder = temporaryFolder("sync", cleanups);
  if (statfsSync(folder).type === TMPFS_MAGIC) {
    return "in memory (tmpfs): nothing is really synced, so the numbers say little; set TMPDIR";
  }
  const file = path.join(folder, "appends");
  const descriptor = openSync(file, "a");
  const bytes = Buffer.alloc(SYNC_BYTES, 1);
  const startedAtMs = performance.now();
  let appends = 0;
  while (performance.now() - startedAtMs < SYNC_MEASURE_MS) {
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
    appends++;
  }
  const perSecond = (appends * 1_000) / (performance.now() - startedAtMs);
  closeSync(descriptor);
  rmSync(file);
  return `${Math.round(perSecond)} synced appends/s of ${SYNC_BYTES} bytes, one at a time`;
}

function grpcJsVersion(): string {
  const manifest = new URL("../../node_modules/@grpc/grpc-js/package.json", import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
