import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ServerConfig } from "../../src/server/config/schema.ts";
import { openDataStore, type OpenedDataStore } from "../../src/server/data-store.ts";
import { writeDisowned } from "../../src/storage/data-dir.ts";
import { isDistrust } from "../../src/storage/errors.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { hardStateOf, positionOf, stepOf } from "../conformance/log-steps.ts";
import { recordingLogger } from "../integration/net/support.ts";
import { storageErrorOf, submitAndWait, withTempDir } from "../storage/level-harness.ts";

function configOf(dataDir: string): ServerConfig {
  const servers = [1, 2, 3].map((id) => ({ id }));
  const config = { server: { id: 1, dataDir }, cluster: { id: "c1", servers }, shards: 1 };
  return config as unknown as ServerConfig;
}

function open(dataDir: string): Promise<OpenedDataStore> {
  return openDataStore(configOf(dataDir), recordingLogger(), () => expect.unreachable());
}

test("a first start makes a store of all groups, which no other server knows yet", async () => {
  await withTempDir(async (dir) => {
    const made = await open(join(dir, "data"));
    expect(made.isAdmitted).toBe(false);
    expect(made.replicas.map(({ group }) => group)).toEqual([0, 1]);
    expect(made.replicas[0]?.configuration.voters).toEqual([1, 2, 3]);
    await made.store.close();
    const again = await open(join(dir, "data"));
    expect(again.identity).toEqual(made.identity);
    await again.store.close();
  });
});

test("a log whose snapshot is lost is damaged: what it stood for is gone (law 30)", async () => {
  await withTempDir(async (dir) => {
    const { store } = await open(dir);
    const position = positionOf(7, 1);
    const hardState = hardStateOf(1, undefined, 7);
    await submitAndWait(store, stepOf({ hardState, snapshot: position, base: position }));
    await store.close();
    for (let start = 0; start < 2; start++) {
      const error = await storageErrorOf(open(dir), "damaged");
      expect(isDistrust(error)).toBe(true);
      expect(error.place).toEqual({ group: 0, index: 7 });
    }
    mkdirSync(join(dir, "snapshots"));
    writeFileSync(join(dir, "snapshots", "0-7-1-70.snapshot"), "cadasnap");
    await storageErrorOf(open(dir), "damaged");
  });
});

test("a store that others disowned stays disowned, whoever remembers", async () => {
  await withTempDir(async (dir) => {
    await (await open(dir)).store.close();
    await writeDisowned(new NodeFileStore(dir), "server 2 saw more");
    for (let start = 0; start < 2; start++) {
      const error = await storageErrorOf(open(dir), "disowned");
      expect(error.message).toMatch(/server 2 saw more/);
      expect(isDistrust(error)).toBe(true);
    }
    expect(existsSync(join(dir, "raft"))).toBe(true);
  });
});
