/** What can befall a server's data directory: that it is lost, or put back to an earlier day. */

import type { Covered } from "./coverage.ts";
import { type SimServer, STORE_FAULTS, type StoreFault } from "./sim-server.ts";
import type { World } from "./world.ts";

interface StoreImage {
  readonly disk: ReturnType<SimServer["disk"]["image"]>;
  readonly files: ReturnType<SimServer["files"]["image"]>;
}

function imageOf({ disk, files }: SimServer): StoreImage {
  return { disk: disk.image(), files: files.image() };
}

/** No process has it open. Nobody tells the server. */
function befall(server: SimServer, fault: StoreFault, image: StoreImage): void {
  const { disk, files } = server;
  server.isStoreChanged = true;
  if (fault === "lost" || fault === "logEmptied") disk.rollBack(new Map());
  else disk.rollBack(image.disk);
  if (fault === "lost") {
    files.rollBack(new Map());
    server.isCreated = false;
  } else if (fault === "rolledBack") files.rollBack(image.files);
}

const STORE_FAULT_NAMES: Readonly<Record<StoreFault, Covered>> = {
  lost: "storesLost",
  logEmptied: "logsEmptied",
  logRolledBack: "logsRolledBack",
  rolledBack: "storesRolledBack",
};

/** Of a minority at most, once all take part: what the others hold must be enough. */
export function hitStore(world: World, later: (run: () => void) => void): void {
  const { prng, servers, trace } = world;
  const { all } = servers;
  const most = Math.floor((all.length - 1) / 2);
  const isFormed = all.every(({ isAdmitted }) => isAdmitted);
  if (!isFormed || all.filter(({ hitBy }) => hitBy !== undefined).length >= most) return;
  const server = prng.pick(all.filter(({ hitBy }) => hitBy === undefined));
  const image = imageOf(server);
  const fault = prng.pick(STORE_FAULTS);
  server.hitBy = fault;
  const hit = (): void => {
    trace.count(STORE_FAULT_NAMES[fault]);
    servers.kill(server);
    befall(server, fault, image);
  };
  // Something must have been promised since the image.
  if (fault === "logRolledBack" || fault === "rolledBack") later(hit);
  else hit();
}
