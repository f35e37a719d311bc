import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { Participation } from "../../src/server/participation.ts";
import { StorageError } from "../../src/storage/errors.ts";
import { recordingLogger } from "../integration/net/support.ts";

const server = (id: number): ServerId => id as ServerId;

function setUp(options: { others?: readonly number[]; isAdmitted?: boolean } = {}) {
  const { others = [2, 3], isAdmitted = false } = options;
  const logger = recordingLogger();
  const writes: (() => void)[] = [];
  const distrusted: StorageError[] = [];
  const participation = new Participation({
    others: others.map(server),
    isAdmitted,
    admit: () => new Promise((resolve) => writes.push(resolve)),
    logger,
    onDistrust: (error) => distrusted.push(error),
  });
  return { participation, logger, writes, distrusted };
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const DISOWNED = new StorageError("disowned", { dir: "/data", what: "server 3 says so" });

test("a new server takes part once every other has remembered it, and that is durable", async () => {
  const { participation, writes } = setUp();
  expect(participation.abstention?.reason).toBe("notAdmitted");
  expect(participation.abstention?.details).toMatch(/start server 2 and server 3$/);
  participation.onRemembered(server(3));
  participation.onRemembered(server(3));
  participation.onRemembered(server(9));
  expect(participation.abstention?.details).toMatch(/start server 2$/);
  expect(writes.length).toBe(0);
  participation.onRemembered(server(2));
  expect(participation.abstention?.reason).toBe("notAdmitted");
  writes[0]?.();
  await settled();
  expect(participation.abstention).toBeUndefined();
  participation.onRemembered(server(2));
  expect(writes.length).toBe(1);
});

test("a server that was admitted before takes part at once, and writes nothing", () => {
  const { participation, writes } = setUp({ isAdmitted: true });
  expect(participation.abstention).toBeUndefined();
  participation.onRemembered(server(2));
  expect(writes.length).toBe(0);
});

test("a server without others is admitted by itself", async () => {
  const { participation, writes } = setUp({ others: [] });
  writes[0]?.();
  await settled();
  expect(participation.abstention).toBeUndefined();
});

test("a store that is distrusted takes no part for good: one line says why, the first time", async () => {
  const { participation, logger, writes, distrusted } = setUp();
  participation.distrustStore(DISOWNED);
  participation.distrustStore(new StorageError("damaged", { dir: "/data", what: "another" }));
  for (const id of [2, 3]) participation.onRemembered(server(id));
  writes[0]?.();
  await settled();
  expect(participation.distrust).toBe(DISOWNED.message);
  expect(participation.abstention).toEqual({ reason: "disowned", details: DISOWNED.message });
  expect(distrusted).toEqual([DISOWNED]);
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([
    {
      level: "error",
      event: "quarantined",
      fields: { reason: "disowned", problem: DISOWNED.message },
    },
  ]);
});

test("a store that was distrusted when it was opened never takes part", () => {
  const participation = Participation.none(DISOWNED, recordingLogger());
  expect(participation.abstention?.reason).toBe("disowned");
});
