/**
 * What a storage node's process states when it takes its seat, by which the directory tells that
 * the node's process before it is dead (law 13). An open node data directory gives it.
 */

/** Bounds as in proto/cadastre/v1/ownership.proto. */
export interface ProcessStart {
  /** The kernel's boot id, 32 hex digits, dashes allowed. */
  readonly bootId: string;
  /** "device:inode" of the file that the kernel keeps locked for this process alone. */
  readonly lockFile: string;
  /** From 1; raised by one, durably beside the data, at every start. */
  readonly startCount: number;
}
