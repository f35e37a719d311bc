/** A server's replicas: what is not from or to the replica that it names never reaches raft. */

import { expect, test } from "vitest";
import type { GroupId, ReplicaId, ServerId, Term } from "../../src/base/brands.ts";
import type { Envelope, Message } from "../../src/raft/messages.ts";
import { type HostedReplica, ReplicaHost, replicaOf, serverOf } from "../../src/replica/host.ts";
import { QUIET } from "./lone-replica.ts";

const MESSAGE: Message = { kind: "requestVoteReply", term: 1 as Term, granted: false };

function hosted(group: number, log: string[]): HostedReplica {
  const note = (what: string): void => void log.push(`${group} ${what}`);
  return {
    group: group as GroupId,
    self: 1 as ReplicaId,
    receive: (from) => note(`receive ${from}`),
    peerUnreachable: (peer) => note(`unreachable ${peer}`),
    tick: () => note("tick"),
    stop: () => note("stop"),
    settled: async () => note("settled"),
    transferLeadership: async () => note("transfer"),
  };
}

function envelope(group: number, from: number, to: number): Envelope {
  return {
    group: group as GroupId,
    from: from as ReplicaId,
    to: to as ReplicaId,
    message: MESSAGE,
  };
}

test("messages go to the replica of their group, misdirected ones are warned of and dropped", () => {
  const log: string[] = [];
  const warnings: unknown[] = [];
  const warn = (event: string): void => void warnings.push(event);
  const host = new ReplicaHost({ ...QUIET, warn });
  host.add(hosted(0, log));
  host.add(hosted(1, log));
  host.onEnvelope(2 as ServerId, envelope(1, 2, 1));
  host.onEnvelope(3 as ServerId, envelope(0, 3, 1));
  expect(log).toEqual(["1 receive 2", "0 receive 3"]);
  host.onEnvelope(2 as ServerId, envelope(7, 2, 1));
  host.onEnvelope(2 as ServerId, envelope(1, 2, 3));
  host.onEnvelope(2 as ServerId, envelope(1, 3, 1));
  expect(log).toHaveLength(2);
  expect(warnings).toEqual(["misdirectedMessage", "misdirectedMessage", "misdirectedMessage"]);
});

test("while a server takes no part, nothing but the end reaches its replicas (law 30)", () => {
  const log: string[] = [];
  let takesPart = false;
  const host = new ReplicaHost(QUIET, () => takesPart);
  host.add(hosted(0, log));
  const happen = (): void => {
    host.tick();
    host.onEnvelope(2 as ServerId, envelope(0, 2, 1));
    host.onPeerUnreachable(3 as ServerId);
  };
  happen();
  expect(log).toEqual([]);
  takesPart = true;
  happen();
  expect(log).toEqual(["0 tick", "0 receive 2", "0 unreachable 3"]);
  takesPart = false;
  happen();
  host.stop();
  expect(log.slice(3)).toEqual(["0 stop"]);
});

test("ticks, lost peers and the end reach every replica; a group has one of them", () => {
  const log: string[] = [];
  const host = new ReplicaHost(QUIET);
  host.add(hosted(0, log));
  host.add(hosted(1, log));
  expect(() => host.add(hosted(1, log))).toThrow("one replica of a group");
  host.tick();
  host.onPeerUnreachable(3 as ServerId);
  host.stop();
  expect(log).toEqual([
    "0 tick",
    "1 tick",
    "0 unreachable 3",
    "1 unreachable 3",
    "0 stop",
    "1 stop",
  ]);
  expect(serverOf(replicaOf(4 as ServerId))).toBe(4);
});
