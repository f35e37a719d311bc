import { expect, test } from "vitest";
import { dials, refusalOf } from "../../src/net/handshake.ts";
import type { PeerIds } from "../../src/wire/peer-forward.ts";
import { id } from "../integration/net/support.ts";

const LOCAL = { self: id.server(2), clusterId: "a" };
const IDS: PeerIds = {
  protocolVersion: 1,
  clusterId: "a",
  from: id.server(1),
  to: id.server(2),
};
const isPeer = (server: number): boolean => server === 1;

test("ids of a known peer of this cluster to this server are accepted", () => {
  expect(refusalOf(IDS, LOCAL, isPeer)).toBeUndefined();
});

test.each<[Partial<PeerIds>, string]>([
  [{ protocolVersion: 0 }, "protocolMismatch"],
  [{ protocolVersion: 2 }, "protocolMismatch"],
  [{ clusterId: "b" }, "clusterMismatch"],
  [{ clusterId: "" }, "clusterMismatch"],
  [{ to: id.server(3) }, "wrongServer"],
  [{ from: id.server(9) }, "unknownPeer"],
])("ids with %j are refused: %s", (change, reason) => {
  expect(refusalOf({ ...IDS, ...change }, LOCAL, isPeer)?.reason).toBe(reason);
});

test("a foreign cluster is named before anything else about the ids", () => {
  const foreign = { ...IDS, clusterId: "b", to: id.server(7), from: id.server(9) };
  expect(refusalOf(foreign, LOCAL, isPeer)?.reason).toBe("clusterMismatch");
});

test("of each pair exactly one server dials, the one with the smaller id", () => {
  expect(dials(id.server(1), id.server(2))).toBe(true);
  expect(dials(id.server(10), id.server(9))).toBe(false);
});
