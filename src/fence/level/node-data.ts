/**
 * A storage node's own durable memory, in a small LevelDB store inside its data directory: the
 * uuid that binds the node id to these data, how often they were opened (law 13), and the epochs
 * under which they were used (law 17).
 *
 * LevelDB's lock is held by the kernel for the life of the process: a second process on the same
 * directory is refused by name. Every record carries a CRC-32C of its key and value; a
 * damaged one stops the opening, because an epoch that is forgotten fences nothing.
 */

import { randomUUID } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { Level } from "level";
import type { Epoch } from "../../base/brands.ts";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "../../base/bytes.ts";
import { crc32c } from "../../base/crc32c.ts";
import type { Span } from "../../base/span.ts";
import { EpochMap, spanKey } from "../epoch-map.ts";
import type { EpochMemory, RememberedEpoch } from "../epochs.ts";
import type { ProcessStart } from "../process-start.ts";
import { lockedFileOf, readBootId } from "./start-facts.ts";

/** Beside whatever else the node keeps in its data directory. */
const STORE_FOLDER = "cadastre-node";
const FORMAT = 1;
const META_KEY = "meta";
const START_KEY = "start";
const EPOCH_PREFIX = "epoch/";

/** Why a data directory can't be used; the message says what to do about it. */
export class NodeDataError extends Error {
  override readonly name = "NodeDataError";
  /** "locked": another process has it open. "damaged": what is stored can't be trusted. */
  readonly code: "locked" | "damaged" | "unusable";

  constructor(code: NodeDataError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** An open data directory. */
export interface NodeData extends EpochMemory {
  /** Made when the directory was first opened; never changes. */
  readonly dataUuid: string;
  /**
   * For the registration of a seat: with it, a process that follows one that died gets that one's
   * ranges at once. undefined where the kernel has no boot id: leases run out instead.
   */
  readonly start: ProcessStart | undefined;
  /**
   * Counts one start more, durably: the next process on these data proves nothing of this one,
   * because a copy of it lives on. Rejects when the storage fails.
   */
  voidProof(): Promise<void>;
  /**
   * Waits for what is being written, and gives the lock back. Only after the last seat on these
   * data has closed: whoever gets the lock next proves by it that this process serves nothing.
   */
  close(): Promise<void>;
}

/**
 * Opens a storage node's data directory, making it if it is not there.
 *
 * Throws a {@link NodeDataError}: "locked" while another process has it open, "damaged" when a
 * record fails its checksum or the uuid is missing beside epochs, "unusable" when it can't be
 * opened at all (permissions, disk).
 */
export async function openNodeData(dataDir: string): Promise<NodeData> {
  const folder = path.join(dataDir, STORE_FOLDER);
  const claim = await claimFolder(folder);
  const store = new Level<string, string>(folder, { keyEncoding: "utf8", valueEncoding: "utf8" });
  const closeStore = async (): Promise<void> => {
    await store.close();
    openFolders.delete(claim);
  };
  try {
    await store.open();
  } catch (error) {
    openFolders.delete(claim);
    throw fromOpenError(error, folder);
  }
  try {
    const loaded = await load(store, folder);
    const start = await noteStart(store, folder, loaded.startCount);
    return new LevelNodeData({ store, closeStore, start, ...loaded });
  } catch (error) {
    await closeStore();
    if (error instanceof NodeDataError) throw error;
    const cause = { cause: error };
    throw new NodeDataError("damaged", `${folder} can't be read; ${RESTORE_ADVICE}`, cause);
  }
}

/**
 * Folders that this process has open, by device and inode. LevelDB would refuse a second opening,
 * too, but by opening its lock file once more and closing it, and that drops the kernel's lock of
 * the whole process: another process could then open the store beside us.
 */
const openFolders = new Set<string>();

async function claimFolder(folder: string): Promise<string> {
  let claim: string;
  try {
    await mkdir(folder, { recursive: true });
    const { dev, ino } = await stat(folder);
    claim = `${dev}:${ino}`;
  } catch (error) {
    throw fromOpenError(error, folder);
  }
  if (openFolders.has(claim)) throw locked(folder, "this process already");
  openFolders.add(claim);
  return claim;
}

const RESTORE_ADVICE =
  "its memory of epochs is lost: move the directory away and re-onboard this node's ranges";

/** Counts this start, durably, before anything is done with the data. */
async function noteStart(
  store: Level<string, string>,
  folder: string,
  before: number,
): Promise<ProcessStart | undefined> {
  const startCount = before + 1;
  await putStartCount(store, startCount);
  const [bootId, lockFile] = await Promise.all([readBootId(), lockedFileOf(folder)]);
  return bootId === undefined ? undefined : { bootId, lockFile, startCount };
}

async function putStartCount(store: Level<string, string>, count: number): Promise<void> {
  await store.put(START_KEY, sealed(START_KEY, String(count)), { sync: true });
}

class LevelNodeData implements NodeData {
  readonly dataUuid: string;
  readonly start: ProcessStart | undefined;
  readonly #store: Level<string, string>;
  readonly #closeStore: () => Promise<void>;
  readonly #epochs: EpochMap;
  /** Writes go one after another, so that a change is computed from what is really stored. */
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(opened: {
    readonly store: Level<string, string>;
    readonly closeStore: () => Promise<void>;
    readonly dataUuid: string;
    readonly start: ProcessStart | undefined;
    readonly epochs: EpochMap;
  }) {
    this.#store = opened.store;
    this.#closeStore = opened.closeStore;
    this.dataUuid = opened.dataUuid;
    this.start = opened.start;
    this.#epochs = opened.epochs;
  }

  remember(epochs: readonly RememberedEpoch[]): Promise<void> {
    return this.#inTurn(() => this.#write(epochs));
  }

  voidProof(): Promise<void> {
    if (this.start === undefined) return Promise.resolve();
    const { startCount } = this.start;
    return this.#inTurn(() => putStartCount(this.#store, startCount + 1));
  }

  highWater(keyspace: string, span: Span): Epoch {
    return this.#epochs.highWater(keyspace, span);
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.#lastWrite.then(write);
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    await this.#closeStore();
  }

  async #write(epochs: readonly RememberedEpoch[]): Promise<void> {
    const change = this.#epochs.changeFor(epochs);
    if (change.put.length === 0) return;
    const batch = this.#store.batch();
    for (const old of change.drop) batch.del(EPOCH_PREFIX + spanKey(old));
    for (const next of change.put) {
      const key = EPOCH_PREFIX + spanKey(next);
      batch.put(key, sealed(key, epochToText(next)));
    }
    await batch.write({ sync: true });
    this.#epochs.apply(change);
  }
}

interface Loaded {
  readonly dataUuid: string;
  /** How often these data were opened before. */
  readonly startCount: number;
  readonly epochs: EpochMap;
}

async function load(store: Level<string, string>, folder: string): Promise<Loaded> {
  const epochs = new EpochMap();
  let dataUuid: string | undefined;
  let startCount = 0;
  let count = 0;
  for await (const [key, value] of store.iterator()) {
    const text = unsealed(key, value);
    if (text === undefined) throw damaged(folder, `record ${key} fails its checksum`);
    count++;
    if (key === META_KEY) {
      dataUuid = metaToUuid(text);
      if (dataUuid === undefined) throw damaged(folder, `its format is not ${FORMAT}`);
      continue;
    }
    if (key === START_KEY) {
      startCount = Number(text);
      if (!Number.isSafeInteger(startCount)) throw damaged(folder, "its starts are not counted");
      continue;
    }
    const epoch = key.startsWith(EPOCH_PREFIX) ? textToEpoch(text) : undefined;
    if (epoch === undefined) throw damaged(folder, `record ${key} is not understood`);
    epochs.apply({ put: [epoch], drop: [] });
  }
  if (dataUuid !== undefined) return { dataUuid, startCount, epochs };
  if (count > 0) throw damaged(folder, "it holds epochs and no uuid");
  const fresh = randomUUID();
  const meta = JSON.stringify({ format: FORMAT, dataUuid: fresh });
  await store.batch([{ type: "put", key: META_KEY, value: sealed(META_KEY, meta) }], {
    sync: true,
  });
  return { dataUuid: fresh, startCount, epochs };
}

function damaged(folder: string, what: string): NodeDataError {
  return new NodeDataError("damaged", `${folder}: ${what}; ${RESTORE_ADVICE}`);
}

function fromOpenError(error: unknown, folder: string): NodeDataError {
  const code = codeOf(error);
  const cause = { cause: error };
  if (code === "LEVEL_LOCKED") return locked(folder, "another process", cause);
  if (code === "LEVEL_CORRUPTION") {
    return new NodeDataError("damaged", `${folder} is corrupt; ${RESTORE_ADVICE}`, cause);
  }
  return new NodeDataError(
    "unusable",
    `${folder} can't be opened (${String(code ?? error)}); check the directory and its permissions`,
    cause,
  );
}

function locked(folder: string, by: string, cause?: ErrorOptions): NodeDataError {
  return new NodeDataError(
    "locked",
    `${folder} is in use by ${by}; close it there, or give this node its own data directory`,
    cause,
  );
}

/** LevelDB's reason stands in the cause of the error that `level` throws. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = codeOf(error.cause);
  if (inner !== undefined) return inner;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The value with a checksum over key and value in front. */
function sealed(key: string, text: string): string {
  return `${checksum(key, text)} ${text}`;
}

function unsealed(key: string, value: string): string | undefined {
  const text = value.slice(9);
  return value === sealed(key, text) ? text : undefined;
}

function checksum(key: string, text: string): string {
  const bytes = concatBytes(utf8ToBytes(key), Uint8Array.of(0), utf8ToBytes(text));
  return crc32c(bytes).toString(16).padStart(8, "0");
}

function metaToUuid(text: string): string | undefined {
  const meta: unknown = JSON.parse(text);
  if (typeof meta !== "object" || meta === null) return undefined;
  if (!("format" in meta && meta.format === FORMAT && "dataUuid" in meta)) return undefined;
  return typeof meta.dataUuid === "string" ? meta.dataUuid : undefined;
}

function epochToText({ epoch, keyspace, span }: RememberedEpoch): string {
  const endKey = span.endKey === undefined ? null : bytesToHex(span.endKey);
  return JSON.stringify({ keyspace, startKey: bytesToHex(span.startKey), endKey, epoch });
}

function textToEpoch(text: string): RememberedEpoch | undefined {
  const record: unknown = JSON.parse(text);
  if (typeof record !== "object" || record === null) return undefined;
  if (!("keyspace" in record && "startKey" in record)) return undefined;
  if (!("endKey" in record && "epoch" in record)) return undefined;
  const { keyspace, startKey, endKey, epoch } = record;
  if (typeof keyspace !== "string" || typeof startKey !== "string") return undefined;
  if (typeof epoch !== "number" || !Number.isSafeInteger(epoch) || epoch < 0) return undefined;
  const start = hexToBytes(startKey);
  const end = typeof endKey === "string" ? hexToBytes(endKey) : undefined;
  if (start === undefined || (endKey !== null && end === undefined)) return undefined;
  return { keyspace, span: { startKey: start, endKey: end }, epoch: epoch as Epoch };
}
