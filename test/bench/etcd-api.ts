/** The peer's calls as bytes and back, from etcd.proto, and unary calls as promises. */

import { fileURLToPath } from "node:url";
import { type Client, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { LOADER_OPTIONS } from "../../src/wire/load.ts";

export interface EtcdMethod<Request, Answer> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Answer;
}

interface KvService {
  readonly Put: EtcdMethod<
    { readonly key: Uint8Array; readonly value: Uint8Array },
    { readonly header: EtcdHeader }
  >;
  readonly Range: EtcdMethod<
    { readonly key: Uint8Array },
    { readonly header: EtcdHeader; readonly count: string }
  >;
}

interface LeaseService {
  readonly LeaseGrant: EtcdMethod<
    { readonly ttlSeconds: number; readonly id: number },
    { readonly id: string }
  >;
  readonly LeaseKeepAlive: EtcdMethod<
    { readonly id: number },
    { readonly id: string; readonly ttlSeconds: string }
  >;
}

interface MaintenanceService {
  readonly Status: EtcdMethod<
    Readonly<Record<string, never>>,
    { readonly header: EtcdHeader; readonly leader: string }
  >;
}

export interface EtcdHeader {
  readonly memberId: string;
  readonly revision: string;
}

const folder = fileURLToPath(new URL(".", import.meta.url));
const loaded = loadSync("etcd.proto", { ...LOADER_OPTIONS, includeDirs: [folder] });

export const KV: KvService = loaded["etcdserverpb.KV"] as unknown as KvService;
export const LEASE: LeaseService = loaded["etcdserverpb.Lease"] as unknown as LeaseService;
export const MAINTENANCE: MaintenanceService = loaded[
  "etcdserverpb.Maintenance"
] as unknown as MaintenanceService;

/** One call; rejects when it fails or its time is over. */
export function callEtcd<Request, Answer>(
  client: Client,
  method: EtcdMethod<Request, Answer>,
  request: Request,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest<Request, Answer>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      (error, answer) => {
        if (error !== null) reject(error);
        else if (answer === undefined) reject(new Error(`${method.path}: an empty answer`));
        else resolve(answer);
      },
    );
  });
}
