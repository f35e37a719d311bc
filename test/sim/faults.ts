/**
 * The faults of a run, one function for each name: what is broken, for how long, and how it is
 * mended. Nothing is mended twice: a run that heals mends everything itself.
 */

import type { ServerId } from "../../src/base/brands.ts";
import { replicaOf } from "../../src/replica/host.ts";
import type { CutKind } from "../../src/testing/faulty-network.ts";
import type { ProcessClock } from "../../src/testing/process-clock.ts";
import type { OwnerProcess } from "./actors/owner.ts";
import type { Covered } from "./coverage.ts";
import { CRASH_POINTS, type SimServer } from "./sim-server.ts";
import type { FaultName, Shape } from "./shape.ts";
import { hitStore } from "./store-faults.ts";
import { SHARD } from "./virtual-cluster.ts";
import type { World } from "./world.ts";

/** Longer than a session lasts without renewals. */
const LONG_FAULT_MS = 12_000;
const CRASH_LOOP_LIVES = 5;
/** That a server is away for so long that its peers' logs begin behind what it has. */
const LONG_OUTAGE = 0.15;
const EARLY_COPY = 0.3;

export class Faults {
  readonly #world: World;
  readonly #shape: Shape;
  /** Everything has healed: nothing is broken any more, and nothing that waits is mended. */
  #isOver = false;
  /** Never started again. */
  readonly #stopped = new Set<ServerId>();

  constructor(world: World, shape: Shape) {
    this.#world = world;
    this.#shape = shape;
  }

  /** Begins to break things, one now and then. */
  start(): void {
    const { clock, prng, trace } = this.#world;
    const { faultEveryMs, faults } = this.#shape;
    clock.after(faultEveryMs * (0.2 + 1.6 * prng.nextFraction()), () => {
      if (this.#isOver) return;
      this.start();
      const fault = prng.pick(faults);
      trace.say(`fault: ${fault}`);
      this.#inject(fault);
    });
  }

  /** Nothing more is broken; what was begun is left to whoever heals. */
  end(): void {
    this.#isOver = true;
  }

  /** These stay down whatever happens. */
  keepDown(server: SimServer): void {
    this.#stopped.add(server.id);
    this.#world.servers.kill(server);
  }

  /** A server has ended: it comes back, by and by. */
  onServerDown(server: SimServer): void {
    if (this.#stopped.has(server.id)) return;
    const { clock, prng, servers } = this.#world;
    const startAgain = (): void => {
      if (servers.isDown(server) && !this.#stopped.has(server.id)) servers.start(server);
    };
    if (this.#isOver) clock.after(50, startAgain);
    else clock.after(prng.chance(LONG_OUTAGE) ? LONG_FAULT_MS : this.#lastsMs(), startAgain);
  }

  #inject(fault: FaultName): void {
    switch (fault) {
      case "peerCutOneWay":
      case "peerIsolation":
      case "peerPartition":
      case "oldMessages":
        return this.#breakPeers(fault);
      case "linkRefused":
      case "linkSilent":
      case "allLinksSilent":
        return this.#breakLinks(fault);
      case "serverKill":
      case "serverKillAtPoint":
      case "crashLoop":
      case "powerCut":
      case "clusterPowerCut":
        return this.#endServers(fault);
      case "serverPause":
      case "serverStop":
      case "ownerPause":
      case "clientPause":
      case "suspension":
      case "rateChange":
      case "clockJump":
        return this.#disturbTime(fault);
      case "slowDisk":
      case "appendError":
      case "syncError":
      case "hungDisk":
        return this.#disturbDisk(fault);
      case "leaderTransfer":
        return this.#transferLeadership();
      case "storeFault":
        return hitStore(this.#world, (run) => this.#later(run));
      case "ownerCrash":
      case "ownerReplacement":
      case "ownerClose":
      case "ownerRelease":
      case "ownerCopy":
        return this.#disturbOwner(fault);
      case "storeCrash":
        this.#world.trace.count("storeCrashes");
        this.#world.store.crash();
        return this.#later(() => this.#world.store.restart());
    }
  }

  // ---- Between servers

  #breakPeers(fault: "peerCutOneWay" | "peerIsolation" | "peerPartition" | "oldMessages"): void {
    const { network, prng, servers, trace } = this.#world;
    const { ids } = servers;
    switch (fault) {
      case "peerCutOneWay": {
        const from = prng.pick(ids);
        trace.count("peerCutsOneWay");
        return this.#cut([[from, prng.pick(ids.filter((id) => id !== from))]]);
      }
      case "peerIsolation": {
        const alone = prng.pick(ids);
        trace.count("peerIsolations");
        return this.#cut(linksBetween(ids, (id) => id === alone));
      }
      case "peerPartition": {
        const side = new Set(ids.filter(() => prng.chance(0.5)));
        trace.count("peerPartitions");
        return this.#cut(linksBetween(ids, (id) => side.has(id)));
      }
      case "oldMessages":
        for (let times = 0; times < 5; times++) network.repeatOldMessage();
    }
  }

  #cut(links: readonly (readonly [ServerId, ServerId])[]): void {
    const { network, prng } = this.#world;
    const kind: CutKind = prng.chance(0.5) ? "refused" : "silent";
    for (const [from, to] of links) network.cut(from, to, kind);
    this.#later(() => {
      for (const [from, to] of links) network.heal(from, to);
    });
  }

  // ---- Between clients and servers

  #breakLinks(fault: "linkRefused" | "linkSilent" | "allLinksSilent"): void {
    const { channels, clients, processes, prng, servers, trace } = this.#world;
    const party = prng.pick(prng.chance(0.7) && processes.length > 0 ? processes : clients);
    const kind = fault === "linkRefused" ? "refused" : "silent";
    const names: Readonly<Record<typeof fault, Covered>> = {
      linkRefused: "linksRefused",
      linkSilent: "linksSilent",
      allLinksSilent: "allLinksSilent",
    };
    trace.count(names[fault]);
    const addresses = servers.all.map(({ address }) => address);
    const cut = fault === "allLinksSilent" ? addresses : [prng.pick(addresses)];
    for (const address of cut) channels.cut(party, address, kind);
    this.#later(() => {
      for (const address of cut) channels.heal(party, address);
    });
  }

  // ---- The ends of servers

  #endServers(
    fault: "serverKill" | "serverKillAtPoint" | "crashLoop" | "powerCut" | "clusterPowerCut",
  ): void {
    const { prng, servers, trace } = this.#world;
    const server = prng.pick(servers.all);
    switch (fault) {
      case "serverKill":
        trace.count("serverKills");
        return servers.kill(server);
      case "serverKillAtPoint":
        server.crashAt = { point: prng.pick(CRASH_POINTS), left: prng.nextInteger(1, 30) };
        return;
      case "crashLoop":
        trace.count("crashLoops");
        return this.#crashAgain(server, CRASH_LOOP_LIVES);
      case "powerCut":
        trace.count("powerCuts");
        return servers.cutPower(server);
      case "clusterPowerCut":
        trace.count("clusterPowerCuts");
        for (const each of servers.all) if (prng.chance(0.8)) servers.cutPower(each);
    }
  }

  /** Of any server's group, led by it or not, to any server, itself included. */
  #transferLeadership(): void {
    const { onBug, prng, servers, trace } = this.#world;
    const groups = servers.running.flatMap(({ process }) => process?.core?.groups ?? []);
    if (groups.length === 0) return;
    trace.count("leaderTransfers");
    const { root, shards } = prng.pick(groups);
    const shard = shards.get(SHARD)?.access;
    const { replica } = shard !== undefined && prng.chance(0.7) ? shard : root;
    const target = prng.chance(0.5) ? undefined : replicaOf(prng.pick(servers.ids));
    replica.transferLeadership(target).catch(onBug);
  }

  #crashAgain(server: SimServer, lives: number): void {
    const { clock, prng, servers } = this.#world;
    if (this.#isOver || lives === 0) return;
    if (servers.isDown(server)) servers.start(server);
    clock.after(prng.nextFraction() * 400, () => {
      if (this.#isOver) return;
      servers.kill(server);
      this.#crashAgain(server, lives - 1);
    });
  }

  // ---- Time

  #disturbTime(
    fault:
      | "serverPause"
      | "serverStop"
      | "ownerPause"
      | "clientPause"
      | "suspension"
      | "rateChange"
      | "clockJump",
  ): void {
    const { clients, prng, processes, servers, trace } = this.#world;
    const anyClock = (): ProcessClock | undefined => {
      const clocks = [...servers.running, ...processes].map(({ clock }) => clock);
      return clocks.length === 0 ? undefined : prng.pick(clocks);
    };
    switch (fault) {
      case "serverPause":
        trace.count("serverPauses");
        return this.#pause(prng.pick(servers.all).clock, this.#lastsMs());
      case "serverStop":
        // Far longer than elections and forwarded calls take.
        trace.count("serverStops");
        return this.#pause(prng.pick(servers.all).clock, LONG_FAULT_MS);
      case "ownerPause": {
        trace.count("ownerPauses");
        const owner = processes.length === 0 ? undefined : prng.pick(processes);
        return owner && this.#pause(owner.clock, this.#lastsMs());
      }
      case "clientPause":
        trace.count("clientPauses");
        return this.#pause(prng.pick(clients).clock, this.#lastsMs());
      case "suspension": {
        trace.count("suspensions");
        const clock = anyClock();
        clock?.suspend();
        return this.#later(() => clock?.resume());
      }
      case "rateChange": {
        trace.count("rateChanges");
        const clock = anyClock();
        clock?.setRate(prng.pick([0.3, 0.9, 1.1, 3]));
        return this.#later(() => clock?.setRate(1));
      }
      case "clockJump":
        trace.count("clockJumps");
        return anyClock()?.jump(prng.pick([50, 1_000, 60_000]));
    }
  }

  #pause(clock: ProcessClock, lastsMs: number): void {
    clock.pause();
    this.#world.clock.after(lastsMs, () => {
      if (!this.#isOver) clock.resume();
    });
  }

  // ---- Disks

  #disturbDisk(fault: "slowDisk" | "appendError" | "syncError" | "hungDisk"): void {
    const { prng, servers, trace } = this.#world;
    const server = prng.pick(servers.all);
    const { disk } = server;
    switch (fault) {
      case "slowDisk":
        trace.count("slowDisks");
        disk.setQuality({ ...this.#shape.disk, syncMsMax: prng.pick([50, 300, 900]) });
        return this.#later(() => disk.setQuality(this.#shape.disk));
      case "appendError":
        trace.count("appendErrors");
        return disk.failNextWrite("appendError");
      case "syncError":
        trace.count("syncErrors");
        return disk.failNextWrite("syncError");
      case "hungDisk":
        trace.count("hungDisks");
        disk.failNextWrite("hang");
        // A hung disk does not heal under a running process.
        return this.#later(() => servers.kill(server));
    }
  }

  // ---- Storage nodes

  #disturbOwner(
    fault: "ownerCrash" | "ownerReplacement" | "ownerClose" | "ownerRelease" | "ownerCopy",
  ): void {
    const { onBug, prng, processes, trace } = this.#world;
    if (processes.length === 0) return;
    const owner = prng.pick(processes);
    const { nodeId } = owner;
    const isLast = this.#world.isLast(owner);
    // What one of two processes of an incarnation gives up, or proves, is the other's, too, until
    // the group has heard of both.
    const isHarmless = fault === "ownerCopy" || fault === "ownerReplacement";
    const isTwofold = this.#world.isCopied(owner) && !isHarmless;
    const becomesTwofold = fault === "ownerCopy" && owner.isClosing;
    if (this.#shape.ownersAreBound && (isTwofold || becomesTwofold)) return;
    switch (fault) {
      case "ownerCrash":
        trace.count("ownerCrashes");
        this.#world.endOwner(owner);
        return isLast ? this.#startOwnerLater(nodeId) : undefined;
      case "ownerReplacement":
        // Nobody knows that the older one still runs.
        if (!isLast) return;
        trace.count("ownerReplacements");
        return this.startOwner(nodeId);
      case "ownerClose":
        return this.#closeOwner(owner, isLast);
      case "ownerRelease":
        trace.count("ownerReleases");
        owner.release(prng.nextInteger(0, 500), 0.5).catch(onBug);
        return;
      case "ownerCopy":
        this.#world.copyOwner(owner);
    }
  }

  /** A copy may be the first to renew. */
  onRegistered(owner: OwnerProcess): void {
    const mayBeCopied = !this.#isOver && this.#shape.faults.includes("ownerCopy");
    if (!mayBeCopied || !this.#world.prng.chance(EARLY_COPY)) return;
    this.#world.clock.after(this.#world.prng.nextFraction() * 20, () => {
      if (!this.#isOver && !owner.isDead && !owner.isClosing) this.#world.copyOwner(owner);
    });
  }

  startOwner(nodeId: string): void {
    const node = this.#world.nodes.find((one) => one.nodeId === nodeId);
    if (node !== undefined) this.#world.startOwner(node);
  }

  #startOwnerLater(nodeId: string): void {
    this.#later(() => this.startOwner(nodeId));
  }

  #closeOwner(owner: OwnerProcess, isLast: boolean): void {
    const { onBug, trace } = this.#world;
    const { seat, nodeId } = owner;
    if (seat === undefined) return;
    trace.count("ownerCloses");
    owner.isClosing = true;
    seat.close({ release: true }).then(() => {
      if (owner.isDead) return;
      this.#world.endOwner(owner);
      if (isLast) this.#startOwnerLater(nodeId);
    }, onBug);
  }

  // ---- How long

  #later(run: () => void): void {
    this.#world.clock.after(this.#lastsMs(), () => {
      if (!this.#isOver) run();
    });
  }

  #lastsMs(): number {
    const { prng } = this.#world;
    const usualMs = this.#shape.faultLastsMs * (0.2 + 1.6 * prng.nextFraction());
    return prng.chance(0.05) ? LONG_FAULT_MS : usualMs;
  }
}

/** All links, in both directions, between those inside and those outside. */
export function linksBetween(
  ids: readonly ServerId[],
  isInside: (id: ServerId) => boolean,
): (readonly [ServerId, ServerId])[] {
  return ids.flatMap((from) =>
    ids.flatMap((to) => (isInside(from) === isInside(to) ? [] : [[from, to] as const])),
  );
}
