/**
 * The public entry point cadastre/testing: time that only moves when told to, networks without
 * sockets and disks without files, with faults and without, for tests of what is built on
 * Cadastre's ports. All chance comes from seeded generators.
 */

export { Prng } from "../base/prng.ts";
export { FaultyChannels } from "./faulty-channels.ts";
export { FaultyNetwork } from "./faulty-network.ts";
export { FaultySnapshots } from "./faulty-snapshots.ts";
export { MemoryLogStore } from "./memory-log-store.ts";
export { MemorySnapshotNetwork, MemorySnapshotStore } from "./memory-snapshots.ts";
export { MemoryNetwork } from "./memory-transport.ts";
export { ProcessClock } from "./process-clock.ts";
export { VirtualClock } from "./virtual-clock.ts";
export { VirtualFiles } from "./virtual-files.ts";
export { VirtualDisk } from "./virtual-disk.ts";
