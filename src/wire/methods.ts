/**
 * Every public method in one table: its path, whether it changes anything, and both of its messages
 * as bytes. The server's and the client's gRPC adapters are loops over it, so that a method is
 * added here and nowhere else.
 *
 * Decoding is total: bytes that are no message, and fields out of bounds, are refusals.
 */

import { defined } from "../base/assert.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Refusal } from "./api.ts";
import type { ApiServices, ServerStream, Unary } from "./api-services.ts";
import { type Codec, Flaw } from "./codec.ts";
import { clusterStatus, getStatusRequest } from "./convert-cluster.ts";
import * as dir from "./convert-directory.ts";
import * as ks from "./convert-keyspaces.ts";
import * as own from "./convert-ownership.ts";
import { type LoadedMethod, type Serializer, serviceOf } from "./public-protos.ts";
import { invalidField, refusal } from "./refusal.ts";

export interface MethodRow<Request, Answer> {
  /** `/cadastre.v1.Directory/Lookup` */
  readonly path: string;
  readonly kind: "unary" | "serverStream";
  /** Without an answer its outcome is unknown; a read is simply asked again. */
  readonly mutates: boolean;
  readonly encodeRequest: (request: Request) => Buffer;
  /** INVALID names the field. */
  readonly decodeRequest: (bytes: Buffer) => Result<Request, Refusal>;
  readonly encodeAnswer: (answer: Answer) => Buffer;
  /** INTERNAL: the server sent what this client cannot hold exactly. */
  readonly decodeAnswer: (bytes: Buffer) => Result<Answer, Refusal>;
}

type RowOf<Method> =
  Method extends Unary<infer Request, infer Answer>
    ? MethodRow<Request, Answer>
    : Method extends ServerStream<infer Request, infer Frame>
      ? MethodRow<Request, Frame>
      : never;

export type MethodTable = {
  readonly [Service in keyof ApiServices]: {
    readonly [Method in keyof ApiServices[Service]]: RowOf<ApiServices[Service][Method]>;
  };
};

const directory = rowsOf("cadastre.v1.Directory");
const ownership = rowsOf("cadastre.v1.Ownership");
const keyspaces = rowsOf("cadastre.v1.Keyspaces");
const cluster = rowsOf("cadastre.admin.v1.Cluster");

export const METHODS: MethodTable = {
  directory: {
    lookup: directory.read("Lookup", dir.lookupRequest, dir.lookupAnswer),
    lookupBatch: directory.read("LookupBatch", dir.lookupBatchRequest, dir.lookupBatchAnswer),
    getRange: directory.read("GetRange", dir.getRangeRequest, dir.getRangeAnswer),
    listRanges: directory.read("ListRanges", dir.listRangesRequest, dir.listRangesAnswer),
    listNodes: directory.read("ListNodes", dir.listNodesRequest, dir.listNodesAnswer),
    watch: directory.read("Watch", dir.watchRequest, dir.watchFrame),
  },
  ownership: {
    register: ownership.mutation("Register", own.registerRequest, own.registerAnswer),
    openSession: ownership.mutation("OpenSession", own.openSessionRequest, own.openSessionAnswer),
    accept: ownership.mutation("Accept", own.acceptRequest, own.acceptAnswer),
    renew: ownership.mutation("Renew", own.renewRequest, own.renewAnswer),
    grant: ownership.mutation("Grant", own.grantRequest, own.grantAnswer),
    withdrawSuccessor: ownership.mutation(
      "WithdrawSuccessor",
      own.withdrawSuccessorRequest,
      own.withdrawSuccessorAnswer,
    ),
    release: ownership.mutation("Release", own.releaseRequest, own.releaseAnswer),
  },
  keyspaces: {
    createKeyspace: keyspaces.mutation(
      "CreateKeyspace",
      ks.createKeyspaceRequest,
      ks.createKeyspaceAnswer,
    ),
    listKeyspaces: keyspaces.read("ListKeyspaces", ks.listKeyspacesRequest, ks.listKeyspacesAnswer),
    defineRanges: keyspaces.mutation("DefineRanges", ks.defineRangesRequest, ks.defineRangesAnswer),
    stageImport: keyspaces.mutation("StageImport", ks.stageImportRequest, ks.stageImportAnswer),
    commitImport: keyspaces.mutation("CommitImport", ks.commitImportRequest, ks.commitImportAnswer),
    abortImport: keyspaces.mutation("AbortImport", ks.abortImportRequest, ks.abortImportAnswer),
  },
  cluster: {
    getStatus: cluster.read("GetStatus", getStatusRequest, clusterStatus),
  },
};

/** A row among others: request and answer are those of the method of that name, unchecked here. */
export interface NamedRow {
  readonly service: keyof ApiServices;
  readonly method: string;
  readonly row: MethodRow<unknown, unknown>;
}

/** The table as a list, for adapters that treat all methods alike. */
export function methodRows(): readonly NamedRow[] {
  const table = METHODS as unknown as Record<keyof ApiServices, Record<string, NamedRow["row"]>>;
  return (Object.keys(METHODS) as (keyof ApiServices)[]).flatMap((service) =>
    Object.entries(table[service]).map(([method, row]) => ({ service, method, row })),
  );
}

/** Full names of the services of the table. */
export function publicServices(): readonly string[] {
  return [...new Set(methodRows().map(({ row }) => serviceOfPath(row.path)))];
}

/** `/cadastre.v1.Directory/Lookup` is a method of `cadastre.v1.Directory`. */
export function serviceOfPath(path: string): string {
  return defined(path.split("/")[1], "a method's path has two parts");
}

type MakeRow = <
  Request,
  RequestIn extends object,
  RequestOut,
  Answer,
  AnswerIn extends object,
  AnswerOut,
>(
  name: string,
  request: Codec<Request, RequestIn, RequestOut>,
  answer: Codec<Answer, AnswerIn, AnswerOut>,
) => MethodRow<Request, Answer>;

/** Makes the rows of one service; a method that the proto does not have is a bug. */
function rowsOf(fullName: string): { readonly read: MakeRow; readonly mutation: MakeRow } {
  const service = serviceOf(fullName);
  const maker =
    (mutates: boolean): MakeRow =>
    (name, request, answer) => {
      const loaded = defined(service[name], `${fullName} has a method ${name}`);
      return methodRow(loaded, mutates, request, answer);
    };
  return { read: maker(false), mutation: maker(true) };
}

/** The row of one method. */
export function methodRow<Request, RequestOut, Answer, AnswerOut>(
  loaded: LoadedMethod,
  mutates: boolean,
  request: Codec<Request, object, RequestOut>,
  answer: Codec<Answer, object, AnswerOut>,
): MethodRow<Request, Answer> {
  const decodeRequest = decoder(loaded.requestType, request);
  const decodeAnswer = decoder(loaded.responseType, answer);
  return {
    path: loaded.path,
    kind: loaded.responseStream ? "serverStream" : "unary",
    mutates,
    encodeRequest: (value) => loaded.requestType.serialize(request.toProto(value)),
    decodeRequest: (bytes) => {
      const value = decodeRequest(bytes);
      return value instanceof Flaw ? failed(invalidField(value)) : ok(value);
    },
    encodeAnswer: (value) => loaded.responseType.serialize(answer.toProto(value)),
    decodeAnswer: (bytes) => {
      const value = decodeAnswer(bytes);
      return value instanceof Flaw ? failed(unreadableAnswer(value)) : ok(value);
    },
  };
}

/** The codec's `Out` is what the loader's options give for the message, by generated/. */
function decoder<Value, Out>(
  { deserialize }: Serializer<object, object>,
  codec: Codec<Value, object, Out>,
): (bytes: Buffer) => Value | Flaw {
  return (bytes) => {
    let plain: object;
    try {
      plain = deserialize(bytes);
    } catch {
      return NOT_A_MESSAGE;
    }
    return codec.fromProto(plain as Out);
  };
}

const NOT_A_MESSAGE = new Flaw("is not a message of this method");

function unreadableAnswer(flaw: Flaw): Refusal {
  const what = flaw.field === "" ? flaw.problem : `${flaw.field} ${flaw.problem}`;
  const text = `the server's answer cannot be read (${what}); are both of the same release?`;
  return refusal("INTERNAL", text, { metadata: { field: flaw.field } });
}
