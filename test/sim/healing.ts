/**
 * The end of the faults. In safety mode everything heals; in liveness mode a quorum of servers does
 * and each of the others stays broken for good, in a way of its own.
 */

import { PERFECT_CHANNELS } from "../../src/testing/faulty-channels.ts";
import { PERFECT_LINKS } from "../../src/testing/faulty-network.ts";
import type { OwnerProcess } from "./actors/owner.ts";
import type { Faults } from "./faults.ts";
import type { SimServer } from "./sim-server.ts";
import type { Shape } from "./shape.ts";
import type { World } from "./world.ts";

const LASTING = ["stopped", "paused", "deaf", "mute", "cutOff", "oneLink", "hungDisk"] as const;

export interface Healed {
  /** Servers that work from now on, with whole links to each other. */
  readonly working: readonly SimServer[];
  /**
   * Some other server has a link to one of them only: it may lead with that one, and then those
   * beyond hear nothing from it.
   */
  readonly isChain: boolean;
}

/** `isLatest`: the directory knows it as its node's. */
export function heal(
  world: World,
  faults: Faults,
  shape: Shape,
  isLatest: (owner: OwnerProcess) => boolean,
): Healed {
  faults.end();
  world.trace.say("healed");
  healLinks(world);
  const hit = world.servers.all.filter(({ hitBy }) => hitBy !== undefined);
  const afflicted = shape.mode === "liveness" ? drawOutsiders(world, hit) : [];
  for (const server of world.servers.all) revive(world, shape, server);
  const outsiders = [...hit, ...afflicted];
  const lasting = afflicted.map((outsider) => afflict(world, faults, outsider, outsiders));
  healOwners(world, faults, isLatest);
  const working = world.servers.all.filter((server) => !outsiders.includes(server));
  return { working, isChain: lasting.includes("oneLink") };
}

function healLinks({ channels, network, snapshots, store }: World): void {
  network.healAll();
  network.setQuality(PERFECT_LINKS);
  snapshots.setQuality({ chunkBytes: 2_000, delayMsMax: 1, breaks: 0 });
  channels.healAll();
  channels.setQuality(PERFECT_CHANNELS);
  store.restart();
  store.setQuality({ delayMsMax: 1, loss: 0, duplication: 0, syncMsMax: 1 });
}

function revive({ servers }: World, shape: Shape, server: SimServer): void {
  const { disk } = server;
  server.crashAt = undefined;
  disk.failNextWrite(undefined);
  disk.setQuality({ ...disk.quality, syncMsMax: 2 });
  if (disk.isHung) servers.kill(server);
  if (servers.isDown(server)) servers.start(server);
  server.clock.resume();
  if (!shape.ownersAreBound) server.rate = 1;
  server.clock.setRate(server.rate);
}

function healOwners(
  world: World,
  faults: Faults,
  isLatest: (owner: OwnerProcess) => boolean,
): void {
  for (const client of world.clients) client.clock.resume();
  for (const owner of world.processes) {
    owner.clock.resume();
    if (!world.ownersAreBound) owner.clock.setRate(1);
  }
  for (const { nodeId } of world.nodes) {
    const running = world.processes.filter((owner) => owner.nodeId === nodeId && !owner.isClosing);
    // An older process that renews would keep a newer one waiting for as long as it runs.
    const kept = running.find(isLatest) ?? running.findLast(({ seat }) => seat === undefined);
    for (const owner of world.processes) {
      if (owner.nodeId === nodeId && owner !== kept) world.endOwner(owner);
    }
    if (kept === undefined) faults.startOwner(nodeId);
  }
}

/**
 * A minority at most with those whose stores were hit; often the leader, whose faults are the hard
 * ones. None before all have been admitted, for which each other one is needed.
 */
function drawOutsiders(world: World, hit: readonly SimServer[]): SimServer[] {
  const { prng, servers } = world;
  const most = Math.floor((servers.all.length - 1) / 2) - hit.length;
  const isFormed = servers.all.every(({ isAdmitted }) => isAdmitted);
  if (most === 0 || !isFormed) return [];
  const count = prng.nextInteger(1, most);
  const outsiders = new Set<SimServer>();
  const leader = world.shardLeader();
  if (leader !== undefined && leader.hitBy === undefined && prng.chance(0.5)) outsiders.add(leader);
  const possible = servers.all.filter(({ hitBy }) => hitBy === undefined);
  while (outsiders.size < count) outsiders.add(prng.pick(possible));
  return [...outsiders];
}

function afflict(
  world: World,
  faults: Faults,
  outsider: SimServer,
  outsiders: readonly SimServer[],
): (typeof LASTING)[number] {
  const { network, prng, servers, trace } = world;
  const fault = prng.pick(LASTING);
  trace.say(`server ${outsider.id} stays ${fault}`);
  const kept = prng.pick(servers.all.filter((server) => !outsiders.includes(server)));
  for (const other of servers.all) {
    if (other === outsider) continue;
    const isCut = fault === "cutOff" || (fault === "oneLink" && other !== kept);
    if (isCut || fault === "deaf") network.cut(other.id, outsider.id, "silent");
    if (isCut || fault === "mute") network.cut(outsider.id, other.id, "silent");
  }
  if (fault === "stopped") faults.keepDown(outsider);
  if (fault === "paused") outsider.clock.pause();
  if (fault === "hungDisk") outsider.disk.failNextWrite("hang");
  return fault;
}
