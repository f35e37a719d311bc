/**
 * The public entry point cadastre/testing: time that only moves when told to, a network without
 * sockets and a disk without files, for tests of what is built on Cadastre's ports.
 */

export { MemoryLogStore } from "./memory-log-store.ts";
export { MemorySnapshotNetwork, MemorySnapshotStore } from "./memory-snapshots.ts";
export { MemoryNetwork } from "./memory-transport.ts";
export { VirtualClock } from "./virtual-clock.ts";
