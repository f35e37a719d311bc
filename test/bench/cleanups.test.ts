// What was entered is undone, last first, once, and all of it even when one of them fails.
import { expect, test } from "vitest";
import { Cleanups } from "./cleanups.ts";

test("everything is undone once, last first", async () => {
  const cleanups = new Cleanups();
  const undone: string[] = [];
  for (const name of ["a", "b", "c"]) cleanups.add(() => void undone.push(name));
  await Promise.all([cleanups.run(), cleanups.run()]);
  await cleanups.run();
  expect(undone).toEqual(["c", "b", "a"]);
});

test("what was undone earlier is not undone again", async () => {
  const cleanups = new Cleanups();
  let times = 0;
  const undo = cleanups.add(() => void times++);
  await undo();
  await undo();
  await cleanups.run();
  expect(times).toBe(1);
});

test("one that fails does not keep the others from being undone", async () => {
  const cleanups = new Cleanups();
  const undone: string[] = [];
  cleanups.add(() => void undone.push("first"));
  cleanups.add(() => Promise.reject(new Error("stuck")));
  await expect(cleanups.run()).rejects.toThrow("not everything could be undone");
  expect(undone).toEqual(["first"]);
});
