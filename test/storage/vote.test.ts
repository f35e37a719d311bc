import { expect, test } from "vitest";
import type { LogIndex, Term } from "../../src/base/brands.ts";
import type { RequestVote, RequestVoteReply } from "../../src/raft/messages.ts";
import type { Outbound } from "../../src/raft/output.ts";
import type { HardState } from "../../src/raft/types.ts";
import { type OpenedLogStore, openLogStore } from "../../src/storage/log-store.ts";
import { hardStateOf, replicaOf } from "../conformance/log-steps.ts";
import { CoreHost } from "./core-host.ts";
import { CRASHES, type CrashAt, CrashingDisk } from "./crashing-disk.ts";
import { createStore, EXPECTED, NO_TIMERS, withTempDir } from "./level-harness.ts";

/** Asks for votes, and waits for the answers. */
class Voter {
  readonly sent: Outbound[] = [];
  readonly hardState: HardState;
  readonly #host: CoreHost;
  #onSent: () => void = () => undefined;

  constructor(opened: OpenedLogStore) {
    this.#host = new CoreHost(opened, {
      send: (messages) => {
        this.sent.push(...messages);
        this.#onSent();
      },
    });
    this.hardState = this.#host.hardState;
  }

  /** The answer to a candidate; never, when the process ends before. */
  async ask(candidate: number, term: number): Promise<boolean> {
    const count = this.sent.length;
    const answered = new Promise<void>((resolve) => {
      this.#onSent = resolve;
    });
    this.#host.receive(candidate, vote(term));
    if (this.sent.length === count) await answered;
    const { message } = this.sent[count] ?? expect.fail("no answer");
    return (message as RequestVoteReply).granted;
  }
}

function vote(term: number): RequestVote {
  const log = { lastIndex: 0 as LogIndex, lastTerm: 0 as Term };
  return { kind: "requestVote", term: term as Term, isTransfer: false, ...log };
}

async function open(dir: string, disk: CrashingDisk): Promise<OpenedLogStore> {
  const onFatal = (): void => expect.unreachable();
  return openLogStore({ dir, expect: EXPECTED, timers: NO_TIMERS, onFatal }, disk);
}

/** Grants in term 3 and then in term 4, to other candidates; answers what was told. */
async function grantTwice(dir: string, disk: CrashingDisk): Promise<HardState> {
  await createStore(dir, [replicaOf(0)]);
  const opened = await open(dir, disk);
  const voter = new Voter(opened);
  let told = hardStateOf(0);
  const grant = async (candidate: number, term: number): Promise<void> => {
    expect(await voter.ask(candidate, term)).toBe(true);
    told = hardStateOf(term, candidate);
  };
  const life = grant(3, 3)
    .then(() => grant(2, 4))
    .then(() => opened.store.close());
  await Promise.race([life, disk.ended]);
  await disk.release();
  return told;
}

test("a vote that a crash interrupts is the old pair or the new one, and given once (B09, §5.2)", async () => {
  const points = await withTempDir(async (dir) => {
    const disk = new CrashingDisk(dir);
    expect(await grantTwice(dir, disk)).toEqual(hardStateOf(4, 2));
    return disk.points;
  });
  const granting = points.findLastIndex(({ name }) => name.startsWith("write"));
  expect(points.slice(0, granting + 2).map(({ name }) => name)).toEqual([
    "write HW",
    "overwrite acknowledged",
    "write HW",
    "overwrite acknowledged",
  ]);
  for (const [point, { hasPart }] of points.entries()) {
    for (const crash of CRASHES) {
      if (crash !== "part" || hasPart) await crashWhileGranting({ point, crash });
    }
  }
});

async function crashWhileGranting(at: CrashAt): Promise<void> {
  await withTempDir(async (dir) => {
    const told = await grantTwice(dir, new CrashingDisk(dir, at));
    const opened = await open(dir, new CrashingDisk(dir));
    const voter = new Voter(opened);
    const possible = [hardStateOf(0), hardStateOf(3, 3), hardStateOf(4, 2)];
    expect(possible).toContainEqual(voter.hardState);
    expect(voter.hardState.term).toBeGreaterThanOrEqual(told.term);
    const { term, votedFor } = voter.hardState;
    if (votedFor !== undefined) {
      expect(await voter.ask(votedFor === 2 ? 3 : 2, term)).toBe(false);
      expect(await voter.ask(votedFor, term)).toBe(true);
    }
    await opened.store.close();
  });
}

test("a granted vote leaves when the log store and the second record have it, not before (B10)", async () => {
  await withTempDir(async (dir) => {
    await createStore(dir, [replicaOf(0)]);
    const disk = new CrashingDisk(dir);
    const opened = await open(dir, disk);
    const voter = new Voter(opened);
    const granted = voter.ask(2, 7).then(() => disk.finished.length);
    expect(voter.sent).toEqual([]);
    expect(await granted).toBe(2);
    expect(disk.finished).toEqual(["write HW", "overwrite acknowledged"]);
    await opened.store.close();
  });
});
