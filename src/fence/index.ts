/**
 * The public entry point `cadastre/fence`: take a storage node's seat, own ranges, and prove it at
 * every request.
 */

export { GUARD_MS } from "../base/lease-timing.ts";
export { deadlineOf, type HoldKind } from "./hold.ts";
export type { EpochMemory, RememberedEpoch } from "./epochs.ts";
export type { Admission, GuardRequest } from "./guard.ts";
export type { EndCause } from "./lease-steps.ts";
export { freshNonce } from "./level/fresh-nonce.ts";
export { type NodeData, NodeDataError, openNodeData } from "./level/node-data.ts";
export type { ProcessStart } from "./process-start.ts";
export { type Seat, type SeatHold, type SeatOptions, takeSeat } from "./seat.ts";
export type { EventRange, SeatEvent } from "./seat-events.ts";
