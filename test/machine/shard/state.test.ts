/** What an entry emits, while it is applied. */

import { expect, test } from "vitest";
import type { LogTimeMs, Revision } from "../../../src/base/brands.ts";
import type { RecordChange } from "../../../src/machine/shard/events.ts";
import { EntryScope } from "../../../src/machine/shard/state.ts";

const CHANGE: RecordChange = { before: undefined, after: undefined };

test("an event's changes are its own, whatever becomes of the list that they came in", () => {
  const scope = new EntryScope(1 as Revision, 0 as LogTimeMs);
  const changes = [CHANGE];
  scope.emit("granted", 1, changes);
  changes.push(CHANGE);
  expect(scope.events.map((event) => event.changes.length)).toEqual([1]);
});
