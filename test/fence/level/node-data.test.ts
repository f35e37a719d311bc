// The node's own store, on a real disk: what is remembered stays; damage and a second user are
// told by name.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Level } from "level";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NodeDataError, openNodeData } from "../../../src/fence/level/node-data.ts";
import type { ProcessStart } from "../../../src/fence/process-start.ts";
import { errorOf, span } from "../../client/support.ts";
import { epoch } from "../support.ts";

let dataDir = "";

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), "node-data-"));
});

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

const ONE = { keyspace: "k", span: span("", "m"), epoch: epoch(7) };
const TWO = { keyspace: "k", span: span("m", ""), epoch: epoch(2 ** 52) };

test("the uuid is made once, and epochs outlive the process", async () => {
  const first = await openNodeData(dataDir);
  expect(first.dataUuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await Promise.all([first.remember([ONE]), first.remember([TWO])]);
  await first.close();

  const second = await openNodeData(dataDir);
  expect(second.dataUuid).toBe(first.dataUuid);
  expect(second.highWater("k", span("a", "b"))).toBe(7);
  expect(second.highWater("k", span("z", ""))).toBe(2 ** 52);
  expect(second.highWater("other", span("a", "b"))).toBe(0);
  await second.close();
});

test("every start is counted, with the boot and the locked file of this process (law 13)", async () => {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const starts: (ProcessStart | undefined)[] = [];
  for (let at = 0; at < 3; at++) {
    const data = await openNodeData(dataDir);
    starts.push(data.start);
    await data.close();
  }
  const { dev, ino } = statSync(path.join(dataDir, "cadastre-node", "LOCK"), { bigint: true });
  const lockFile = `${dev}:${ino}`;
  expect(starts).toEqual([1, 2, 3].map((startCount) => ({ bootId: boot, lockFile, startCount })));
});

test("a copy of the directory has another locked file, so that it proves nothing (law 13)", async () => {
  const original = await openNodeData(dataDir);
  // Copied while it is open: the start was counted then, and not when it was closed.
  const copyDir = `${dataDir}-copy`;
  try {
    cpSync(dataDir, copyDir, { recursive: true });
    const copy = await openNodeData(copyDir);
    expect(copy.dataUuid).toBe(original.dataUuid);
    expect(copy.start?.startCount).toBe(2);
    expect(copy.start?.lockFile).not.toBe(original.start?.lockFile);
    await copy.close();
  } finally {
    await original.close();
    rmSync(copyDir, { recursive: true, force: true });
  }
});

test("a process that was copied voids the proof of the next one (law 13)", async () => {
  const copied = await openNodeData(dataDir);
  await copied.voidProof();
  await copied.voidProof();
  await copied.close();
  const next = await openNodeData(dataDir);
  expect([copied.start?.startCount, next.start?.startCount]).toEqual([1, 3]);
  await next.close();
});

test("a lower epoch lowers nothing, and a covering one replaces what it covers", async () => {
  const data = await openNodeData(dataDir);
  await data.remember([ONE, TWO]);
  await data.remember([{ ...ONE, epoch: epoch(3) }]);
  expect(data.highWater("k", span("a", "b"))).toBe(7);
  await data.remember([{ keyspace: "k", span: span("", ""), epoch: epoch(2 ** 52 + 1) }]);
  await data.close();
  const keys = await storedKeys();
  expect(keys.filter((key) => key.startsWith("epoch/"))).toHaveLength(1);
});

test("a second user of the directory is refused by name, and the first keeps the kernel's lock (law 13)", async () => {
  const data = await openNodeData(dataDir);
  const error = await errorOf(openNodeData(dataDir));
  expect(error).toBeInstanceOf(NodeDataError);
  expect(error).toMatchObject({ code: "locked" });
  expect((error as Error).message).toContain("in use by this process already");

  const folder = path.join(dataDir, "cadastre-node");
  const script = `
    const { Level } = require("level");
    new Level(process.argv[1]).open().then(
      () => console.log("opened"),
      (error) => console.log(error.cause.code),
    );`;
  const said = execFileSync(process.execPath, ["-e", script, folder], { encoding: "utf8" });
  expect(said.trim()).toBe("LEVEL_LOCKED");
  await data.close();
  await (await openNodeData(dataDir)).close();
});

test("while another process has the directory open, it is refused by name", async () => {
  await (await openNodeData(dataDir)).close();
  const script = `
    const { Level } = require("level");
    new Level(process.argv[1]).open().then(() => process.stdout.write("open"));
    process.stdin.resume();`;
  const other = spawn(process.execPath, ["-e", script, path.join(dataDir, "cadastre-node")]);
  await once(other.stdout, "data");
  const error = await errorOf(openNodeData(dataDir));
  expect(error).toMatchObject({ code: "locked" });
  expect((error as Error).message).toContain("in use by another process");
  other.kill("SIGKILL");
  await once(other, "exit");
  await (await openNodeData(dataDir)).close();
});

test.each([
  ["another value", "epoch/", (value: string) => value.replace("7}", "8}")],
  ["another checksum", "epoch/", (value: string) => `00000000${value.slice(8)}`],
  ["a value cut short", "meta", (value: string) => value.slice(0, -3)],
  ["another count", "start", (value: string) => `${value}0`],
])("a record with %s is found when the directory is opened", async (_what, prefix, damage) => {
  const data = await openNodeData(dataDir);
  await data.remember([ONE]);
  await data.close();
  await withStore(async (store) => {
    for await (const [key, value] of store.iterator()) {
      if (key.startsWith(prefix)) await store.put(key, damage(value));
    }
  });
  const error = await errorOf(openNodeData(dataDir));
  expect(error).toMatchObject({ code: "damaged" });
  expect((error as Error).message).not.toContain("\n");
  expect((error as Error).message).toContain("re-onboard");
});

test("a record that was moved to another key is found, too", async () => {
  const data = await openNodeData(dataDir);
  await data.remember([ONE]);
  await data.close();
  await withStore(async (store) => {
    for await (const [key, value] of store.iterator()) {
      if (key.startsWith("epoch/")) await store.put(`${key}0`, value);
    }
  });
  expect(await errorOf(openNodeData(dataDir))).toMatchObject({ code: "damaged" });
});

test("epochs without a uuid are not given a new one", async () => {
  const data = await openNodeData(dataDir);
  await data.remember([ONE]);
  await data.close();
  await withStore((store) => store.del("meta"));
  expect(await errorOf(openNodeData(dataDir))).toMatchObject({ code: "damaged" });
});

test("a directory that can't be one is unusable, in one line", async () => {
  const file = path.join(dataDir, "file");
  writeFileSync(file, "");
  const error = await errorOf(openNodeData(file));
  expect(error).toMatchObject({ code: "unusable" });
  expect((error as Error).message).not.toContain("\n");
});

async function withStore(act: (store: Level) => Promise<void>): Promise<void> {
  const store = new Level(path.join(dataDir, "cadastre-node"));
  await store.open();
  await act(store);
  await store.close();
}

async function storedKeys(): Promise<string[]> {
  const keys: string[] = [];
  await withStore(async (store) => {
    for await (const key of store.keys()) keys.push(key);
  });
  return keys;
}
