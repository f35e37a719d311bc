import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore, storageErrorOf, withUsedStore } from "../../storage/level-harness.ts";

/** Opens a LevelDB, says so or why not, and holds it until its input ends. */
const HOLDER = `
  const { Level } = require("level");
  const db = new Level(process.argv[1]);
  const answer = db.open().then(() => "held", (error) => error.cause.code);
  answer.then((text) => process.stdout.write(text));
  process.stdin.resume().on("end", () => process.exit());
`;

/** What another process answers that opens the store, and how to end it. */
async function openElsewhere(
  dir: string,
): Promise<{ readonly answer: string; readonly end: () => Promise<void> }> {
  const holder = spawn(process.execPath, ["-e", HOLDER, join(dir, "raft")]);
  const hasEnded = once(holder, "exit");
  const end = async (): Promise<void> => {
    holder.stdin.end();
    await hasEnded;
  };
  const data: unknown[] = await once(holder.stdout, "data");
  return { answer: String(data[0]), end };
}

test("a data directory that another process uses is refused, until that process ends", async () => {
  await withUsedStore(async (dir) => {
    const holder = await openElsewhere(dir);
    expect(holder.answer).toBe("held");
    const error = await storageErrorOf(openStore(dir), "dataDirInUse");
    expect(error.message).toMatch(/stop the process that uses it/);
    await holder.end();
    await (await openStore(dir)).store.close();
  });
});

test("a refused second open in this process does not give the lock away", async () => {
  await withUsedStore(async (dir) => {
    const alias = join(dir, "alias");
    symlinkSync(dir, alias);
    const { store } = await openStore(dir);
    await storageErrorOf(openStore(dir), "dataDirInUse");
    await storageErrorOf(openStore(alias), "dataDirInUse");
    const other = await openElsewhere(dir);
    expect(other.answer).toBe("LEVEL_LOCKED");
    await other.end();
    await store.close();
  });
});
