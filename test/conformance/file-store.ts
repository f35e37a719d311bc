/**
 * What every FileStore must do, as tests that run on any implementation. What a crash may take is
 * not part of it: that differs between a real disk and a simulated one.
 */

import { describe, expect, test } from "vitest";
import { type Bytes, bytesToUtf8, utf8ToBytes } from "../../src/base/bytes.ts";
import { type FileStore, publishWhole } from "../../src/storage/files.ts";

export function describeFileStore(
  name: string,
  withFiles: (run: (files: FileStore) => Promise<void>) => Promise<void>,
): void {
  describe(`${name} as a FileStore`, () => {
    describeWholeFiles(withFiles);
    describeParts(withFiles);
  });
}

type WithFiles = (run: (files: FileStore) => Promise<void>) => Promise<void>;

function describeWholeFiles(withFiles: WithFiles): void {
  test("what is not there is no error", async () => {
    await withFiles(async (files) => {
      expect(await files.list("folder")).toEqual([]);
      expect(await files.readWhole("folder/file")).toBeUndefined();
      expect(await files.readWhole("file")).toBeUndefined();
      expect(await files.openForRead("file")).toBeUndefined();
      await files.remove("file");
      await files.remove("folder/file");
    });
  });

  test("a file is listed with its size in its folder, and only there", async () => {
    await withFiles(async (files) => {
      await write(files, "folder/b", "12345");
      await write(files, "folder/a", "");
      await write(files, "other", "1");
      expect(await files.list("folder")).toEqual([
        { name: "a", fileBytes: 0 },
        { name: "b", fileBytes: 5 },
      ]);
    });
  });

  test("a published file has its new name only, and replaces what was there", async () => {
    await withFiles(async (files) => {
      await write(files, "folder/old", "old");
      await write(files, "folder/draft", "new");
      await files.publish("folder/draft", "folder/old");
      expect(await textOf(files, "folder/old")).toBe("new");
      expect(await files.readWhole("folder/draft")).toBeUndefined();
      expect(await files.list("folder")).toEqual([{ name: "old", fileBytes: 3 }]);
    });
  });

  test("a removed file is gone, and can be made anew", async () => {
    await withFiles(async (files) => {
      await write(files, "file", "before");
      await files.remove("file");
      expect(await files.readWhole("file")).toBeUndefined();
      await write(files, "file", "after");
      expect(await textOf(files, "file")).toBe("after");
    });
  });

  test("a file written as a whole replaces one, and leaves no draft", async () => {
    await withFiles(async (files) => {
      await write(files, "folder/file.draft", "the rest of an attempt that ended");
      await publishWhole(files, "folder/file", utf8ToBytes("first"));
      await publishWhole(files, "folder/file", utf8ToBytes("second"));
      expect(await textOf(files, "folder/file")).toBe("second");
      expect(await files.list("folder")).toEqual([{ name: "file", fileBytes: 6 }]);
    });
  });
}

function describeParts(withFiles: WithFiles): void {
  test("appending goes on at the end of what is there", async () => {
    await withFiles(async (files) => {
      await write(files, "file", "one ");
      const file = await files.openForAppend("file");
      expect(file.fileBytes).toBe(4);
      await file.append(utf8ToBytes("two "));
      await file.append(utf8ToBytes("three"));
      expect(file.fileBytes).toBe(13);
      await file.sync();
      await file.close();
      expect(await textOf(files, "file")).toBe("one two three");
    });
  });

  test("what was appended is the store's own, whatever becomes of the caller's bytes", async () => {
    await withFiles(async (files) => {
      const file = await files.openForAppend("file");
      const bytes = utf8ToBytes("mine");
      await file.append(bytes);
      bytes.fill(0);
      await file.close();
      expect(await textOf(files, "file")).toBe("mine");
    });
  });

  test("any part of a file can be read, and nothing behind its end", async () => {
    await withFiles(async (files) => {
      await write(files, "file", "0123456789");
      const file = await openedForRead(files, "file");
      expect(file.fileBytes).toBe(10);
      expect(bytesToUtf8(await file.read(3, 4))).toBe("3456");
      expect(bytesToUtf8(await file.read(8, 4))).toBe("89");
      expect(bytesToUtf8(await file.read(10, 4))).toBe("");
      expect(bytesToUtf8(await file.read(99, 4))).toBe("");
      await file.close();
    });
  });

  test("an open file outlives its removal and its replacement", async () => {
    await withFiles(async (files) => {
      await write(files, "folder/a", "first");
      await write(files, "folder/b", "second");
      const [first, second] = [
        await openedForRead(files, "folder/a"),
        await openedForRead(files, "folder/b"),
      ];
      await files.publish("folder/b", "folder/a");
      await files.remove("folder/a");
      expect(bytesToUtf8(await first.read(0, 10))).toBe("first");
      expect(bytesToUtf8(await second.read(0, 10))).toBe("second");
      await first.close();
      await second.close();
    });
  });

  test("a part is overwritten in place, and nothing beside it", async () => {
    await withFiles(async (files) => {
      await write(files, "file", "0123456789");
      await files.writeSynced("file", 2, utf8ToBytes("ab"));
      await files.writeSynced("file", 8, utf8ToBytes("yz"));
      expect(await textOf(files, "file")).toBe("01ab4567yz");
    });
  });

  test("a missing file is not made by writing a part of it", async () => {
    await withFiles(async (files) => {
      const written = files.writeSynced("file", 0, utf8ToBytes("x"));
      await expect(written).rejects.toMatchObject({ name: "StorageError" });
      await expect(files.publish("draft", "file")).rejects.toMatchObject({ name: "StorageError" });
      expect(await files.readWhole("file")).toBeUndefined();
    });
  });
}

async function write(files: FileStore, name: string, text: string): Promise<void> {
  const file = await files.openForAppend(name);
  await file.append(utf8ToBytes(text));
  await file.sync();
  await file.close();
}

async function textOf(files: FileStore, name: string): Promise<string | undefined> {
  return bytesToUtf8((await files.readWhole(name)) ?? EMPTY);
}

const EMPTY: Bytes = new Uint8Array(0);

async function openedForRead(
  files: FileStore,
  name: string,
): Promise<NonNullable<Awaited<ReturnType<FileStore["openForRead"]>>>> {
  return (await files.openForRead(name)) ?? expect.fail(`${name} is missing`);
}
