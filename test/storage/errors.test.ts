import { expect, test } from "vitest";
import {
  fromLevelError,
  STORAGE_ERROR_CODES,
  StorageError,
  type StorageErrorCode,
} from "../../src/storage/errors.ts";

function errorWith(code: string, cause?: unknown): Error {
  return Object.assign(new Error(`text of ${code}\nin two lines`, { cause }), { code });
}

const NOT_OPEN = "LEVEL_DATABASE_NOT_OPEN";

test.each<[string, unknown, StorageErrorCode]>([
  ["a lock that is held", errorWith(NOT_OPEN, errorWith("LEVEL_LOCKED")), "dataDirInUse"],
  ["a corruption at open", errorWith(NOT_OPEN, errorWith("LEVEL_CORRUPTION")), "damaged"],
  ["a corruption later", errorWith("LEVEL_CORRUPTION"), "damaged"],
  ["a system error of LevelDB", errorWith("LEVEL_IO_ERROR"), "ioError"],
  ["a closed LevelDB", errorWith(NOT_OPEN), "ioError"],
  ["an open refused without a code", errorWith(NOT_OPEN, new Error("no code")), "ioError"],
  ["a full disk", errorWith("ENOSPC"), "diskFull"],
  ["a full quota", errorWith("EDQUOT"), "diskFull"],
  ["a forbidden path", errorWith("EACCES"), "permissionDenied"],
  ["a read-only file system", errorWith("EROFS"), "permissionDenied"],
  ["a path through a file", errorWith("ENOTDIR"), "notADirectory"],
  ["a system error that has no row", errorWith("EMFILE"), "ioError"],
  ["a string", "broken", "ioError"],
  ["nothing", undefined, "ioError"],
  ["null", null, "ioError"],
  ["an object with a strange code", { code: 7 }, "ioError"],
])("%s becomes a storage error that names the directory", (_, thrown, code) => {
  const error = fromLevelError(thrown, "/data/a");
  expect(error).toBeInstanceOf(StorageError);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(/^[^\n]*\/data\/a[^\n]*: [^\n]+$/);
});

test("a storage error stays what it is", () => {
  const error = new StorageError("serverMismatch", { dir: "/data/a", what: "not yours" });
  expect(fromLevelError(error, "/data/b")).toBe(error);
  expect(fromLevelError(errorWith(NOT_OPEN, error), "/data/b")).toBe(error);
});

test("every code has a remedy of its own", () => {
  const remedies = STORAGE_ERROR_CODES.map(
    (code) => new StorageError(code, { dir: "/data", what: "what" }).message,
  );
  expect(new Set(remedies).size).toBe(STORAGE_ERROR_CODES.length);
  for (const remedy of remedies) expect(remedy).toMatch(/^what: .{20,}$/);
});
