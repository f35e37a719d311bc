/**
 * What those have in common who make keyspaces and say which storage nodes their ranges go to.
 */

import type { CreateKeyspaceRequest } from "../../../src/wire/api.ts";
import type { SampleKeys } from "./keyspaces.ts";
import { type ActorWorld, Party } from "./party.ts";

export interface AdministratorOptions {
  readonly name: string;
  readonly samples: SampleKeys;
  readonly nodeIds: readonly string[];
}

export class Administrator extends Party {
  protected readonly samples: SampleKeys;
  protected readonly nodeIds: readonly string[];

  constructor(world: ActorWorld, { name, samples, nodeIds }: AdministratorOptions) {
    super(world, { name });
    this.samples = samples;
    this.nodeIds = nodeIds;
  }
}

/** Of a keyspace in which nothing but the lease duration varies. */
export function keyspaceNamed(
  name: string,
  leaseDurationMs: number,
): Omit<CreateKeyspaceRequest, "requestId"> {
  return {
    name,
    kind: "range",
    hashFunction: undefined,
    leaseMode: "exclusive",
    dataKind: "none",
    leaseDurationMs,
    renewIntervalMs: Math.floor(leaseDurationMs / 3),
  };
}
