import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InvariantError } from "../../src/base/assert.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { describeFileStore } from "../conformance/file-store.ts";
import { asOrdinaryUser, storageErrorOf, withTempDir } from "./level-harness.ts";

describeFileStore("a directory", (run) => withTempDir((dir) => run(new NodeFileStore(dir))));

test("no name leads out of the data directory", async () => {
  await withTempDir(async (dir) => {
    const files = new NodeFileStore(join(dir, "data"));
    for (const name of ["../file", "/file", "a/../../file", "a/b/c", "", "a/", ".", ".."]) {
      expect(() => files.remove(name)).toThrow(InvariantError);
    }
  });
});

test("folders in a folder are not its files", async () => {
  await withTempDir(async (dir) => {
    mkdirSync(join(dir, "folder", "deeper"), { recursive: true });
    expect(await new NodeFileStore(dir).list("folder")).toEqual([]);
  });
});

test("a full disk is named, at a write and at a sync", async () => {
  await withTempDir(async (dir) => {
    const files = new NodeFileStore(dir);
    symlinkSync("/dev/full", join(dir, "full"));
    const file = await files.openForAppend("full");
    const error = await storageErrorOf(file.append(utf8ToBytes("x")), "diskFull");
    expect(error.message).toContain(join(dir, "full"));
    await file.close();
    await storageErrorOf(files.writeSynced("full", 0, utf8ToBytes("x")), "diskFull");
  });
});

test("a file that the server's user may not read is named", async () => {
  await withTempDir(async (dir) => {
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, "file"), "secret");
    chmodSync(join(dir, "file"), 0o000);
    const files = new NodeFileStore(dir);
    await asOrdinaryUser(async () => {
      await storageErrorOf(files.readWhole("file"), "permissionDenied");
      await storageErrorOf(files.openForRead("file"), "permissionDenied");
      await storageErrorOf(files.openForAppend("new"), "permissionDenied");
    });
    expect(existsSync(join(dir, "new"))).toBe(false);
  });
});
