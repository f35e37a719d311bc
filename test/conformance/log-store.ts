/**
 * What every LogStore must do, as tests that run on any implementation.
 *
 * A harness creates, reopens and kills stores; the memory store and the one on LevelDB each bring
 * their own (test/testing/memory-log-store.test.ts, test/storage/log-store.test.ts).
 */

import { describe, expect, test } from "vitest";
import { InvariantError } from "../../src/base/assert.ts";
import { Prng } from "../../src/base/prng.ts";
import type { DurableStep, LoadedReplica, LogStore } from "../../src/replica/ports.ts";
import {
  describeReplicas,
  entryOf,
  groupOf,
  hardStateOf,
  indexOf,
  positionOf,
  replicaOf,
  START,
  stepOf,
  StoreModel,
  type TestReplica,
} from "./log-steps.ts";

export interface LogStoreHarness {
  readonly store: LogStore;
  /** Lets the disk finish what was submitted; may be without effect if it does so by itself. */
  settle(): void;
  /** Closes the store and opens it again. */
  reopen(): Promise<LoadedReplica[]>;
  /** Ends the process at this moment and opens the store in the next. */
  crash(): Promise<LoadedReplica[]>;
  dispose(): Promise<void>;
}

type MakeHarness = (replicas: readonly TestReplica[]) => Promise<LogStoreHarness>;

const HISTORIES = 200;
const LANES = 8;
const TURNS_PER_HISTORY = 8;

/** Submits steps to a harness's store, mirrors them in a model, and knows what was told. */
class Driver {
  readonly harness: LogStoreHarness;
  readonly model: StoreModel;
  /** Numbers of the steps that were told; a new list for each life of the store. */
  told: number[] = [];
  #submitted = 0;
  #onTold: (() => void) | undefined;

  constructor(harness: LogStoreHarness, replicas: readonly TestReplica[]) {
    this.harness = harness;
    this.model = new StoreModel(replicas);
  }

  submit(parts: Partial<DurableStep>): void {
    const number = this.#submitted++;
    const { told } = this;
    const step = stepOf({
      ...parts,
      onDurable: () => {
        told.push(number);
        this.#onTold?.();
      },
    });
    this.model.take(step);
    this.harness.store.submit(step);
  }

  submitRandom(prng: Prng): void {
    this.submit(this.model.randomStep(prng, () => undefined));
  }

  /** Waits until every submitted step was told. */
  async settle(): Promise<void> {
    while (this.told.length < this.#submitted) {
      const isTold = new Promise<void>((resolve) => {
        this.#onTold = resolve;
      });
      this.harness.settle();
      await isTold;
    }
  }

  async reopen(): Promise<void> {
    await this.settle();
    expect(describeReplicas(await this.harness.reopen())).toEqual(this.model.describe());
  }

  /** The store holds all that was told and, beyond it, any prefix of the rest. */
  async crash(): Promise<void> {
    const acknowledged = this.told.length;
    const found = await this.harness.crash();
    expect(this.model.statesSince(acknowledged)).toContainEqual(describeReplicas(found));
    this.model.reset(found);
    this.told = [];
    this.#submitted = 0;
  }

  /** Forgets the past, so that a later crash need not be compared with all of it. */
  async checkpoint(): Promise<void> {
    await this.reopen();
    this.told = [];
    this.#submitted = 0;
  }
}

export function describeLogStore(name: string, makeHarness: MakeHarness): void {
  async function withStore(
    replicas: readonly TestReplica[],
    run: (driver: Driver) => Promise<void>,
  ): Promise<void> {
    const harness = await makeHarness(replicas);
    try {
      await run(new Driver(harness, replicas));
    } finally {
      await harness.dispose();
    }
  }

  describe(`${name} as a LogStore`, () => {
    describeSingleSteps(withStore);
    describeMovedLogs(withStore);
    describeMergedSteps(withStore);
    describeBackwardSteps(withStore);
    describeRandomSteps(withStore);
  });
}

type WithStore = (
  replicas: readonly TestReplica[],
  run: (driver: Driver) => Promise<void>,
) => Promise<void>;

function describeSingleSteps(withStore: WithStore): void {
  test("a new store holds its replicas without entry, term and vote", async () => {
    await withStore([replicaOf(1, 2), replicaOf(0, 3)], async (driver) => {
      const found = await driver.harness.reopen();
      expect(found).toEqual([
        { ...replicaOf(0, 3), ...START, hardState: hardStateOf(0), entries: [] },
        { ...replicaOf(1, 2), ...START, hardState: hardStateOf(0), entries: [] },
      ]);
    });
  });

  test("appended entries and hard state are found again", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      const entries = [entryOf(1, 1, ""), entryOf(2, 1)];
      driver.submit({ hardState: hardStateOf(1, 1), entries });
      await driver.settle();
      const found = await driver.harness.reopen();
      expect(found).toEqual([{ ...replicaOf(0), ...START, hardState: hardStateOf(1, 1), entries }]);
    });
  });

  test("a step may change the hard state alone, or entries alone", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({ hardState: hardStateOf(3, 2) });
      driver.submit({ entries: [entryOf(1, 3)] });
      await driver.reopen();
    });
  });

  test("a truncated suffix is gone, and a shorter one may take its place", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({
        hardState: hardStateOf(1),
        entries: [1, 2, 3, 4, 5].map((index) => entryOf(index, 1)),
      });
      await driver.reopen();
      driver.submit({
        hardState: hardStateOf(2),
        truncateFrom: indexOf(3),
        entries: [entryOf(3, 2)],
      });
      await driver.reopen();
      driver.submit({ truncateFrom: indexOf(1) });
      await driver.reopen();
      driver.submit({ entries: [entryOf(1, 2)] });
      await driver.reopen();
    });
  });

  test("groups do not touch each other", async () => {
    const replicas = Array.from({ length: 20 }, (_, at) => replicaOf(at * 37, at + 1));
    await withStore(replicas, async (driver) => {
      for (const { group } of replicas) {
        const entries = [entryOf(1, 1, `of ${group}`), entryOf(2, 1)];
        driver.submit({ group, hardState: hardStateOf(1 + group), entries });
      }
      await driver.reopen();
      driver.submit({ group: groupOf(37), truncateFrom: indexOf(2) });
      await driver.reopen();
    });
  });
}

function describeMovedLogs(withStore: WithStore): void {
  const entries = [1, 2, 3, 4, 5].map((index) => entryOf(index, 1));

  test("a log begins after its base, and keeps what follows it", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({ hardState: hardStateOf(1, 1, 4), entries });
      driver.submit({ snapshot: positionOf(4, 1), base: positionOf(3, 1) });
      await driver.reopen();
      driver.submit({ hardState: hardStateOf(2, 1, 4), truncateFrom: indexOf(5) });
      driver.submit({ entries: [entryOf(5, 2), entryOf(6, 2)] });
      await driver.reopen();
      driver.submit({ hardState: hardStateOf(2, 1, 6), snapshot: positionOf(6, 2) });
      driver.submit({ base: positionOf(6, 2) });
      await driver.reopen();
      driver.submit({ entries: [entryOf(7, 2)] });
      await driver.reopen();
    });
  });

  test("an installed snapshot takes the place of the log, whatever that held", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({ hardState: hardStateOf(1, 1, 2), entries });
      const position = positionOf(4, 2);
      const installed = { truncateFrom: indexOf(3), snapshot: position, base: position };
      driver.submit({ hardState: hardStateOf(2, 1, 4), ...installed });
      await driver.reopen();
      driver.submit({ entries: [entryOf(5, 2)] });
      const later = positionOf(1_000, 2);
      driver.submit({ hardState: hardStateOf(2, 1, 1_000), snapshot: later, base: later });
      await driver.reopen();
      driver.submit({ entries: [entryOf(1_001, 2)] });
      await driver.reopen();
    });
  });

  test("a new log can begin with an installed snapshot", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      const position = positionOf(9, 3);
      const hardState = hardStateOf(3, undefined, 9);
      driver.submit({ hardState, snapshot: position, base: position, entries: [entryOf(10, 3)] });
      await driver.reopen();
    });
  });
}

function describeMergedSteps(withStore: WithStore): void {
  test("steps that share a write act in their order", async () => {
    await withStore([replicaOf(0), replicaOf(1)], async (driver) => {
      driver.submit({
        hardState: hardStateOf(1),
        entries: [1, 2, 3].map((index) => entryOf(index, 1)),
      });
      driver.submit({ hardState: hardStateOf(2), truncateFrom: indexOf(2) });
      driver.submit({ group: groupOf(1), hardState: hardStateOf(9, 1) });
      driver.submit({ entries: [2, 3, 4, 5].map((index) => entryOf(index, 2)) });
      driver.submit({
        hardState: hardStateOf(3, 2),
        truncateFrom: indexOf(4),
        entries: [entryOf(4, 3)],
      });
      driver.submit({ hardState: hardStateOf(3, 2, 4) });
      await driver.reopen();
      driver.submit({ entries: [entryOf(5, 3)] });
      await driver.reopen();
    });
  });

  test("steps are told in the order of submission, each once", async () => {
    await withStore([replicaOf(0), replicaOf(1)], async (driver) => {
      for (let term = 1; term <= 50; term++) {
        driver.submit({ group: groupOf(term % 2), hardState: hardStateOf(term) });
        if (term % 10 === 0) await Promise.resolve();
      }
      await driver.settle();
      expect(driver.told).toEqual(Array.from({ length: 50 }, (_, at) => at));
    });
  });

  test("no step is told inside the call that submits it", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({ hardState: hardStateOf(1) });
      expect(driver.told).toEqual([]);
      await driver.settle();
      expect(driver.told).toEqual([0]);
    });
  });

  test("close flushes what was submitted, and lets go what comes after it", async () => {
    await withStore([replicaOf(0)], async (driver) => {
      driver.submit({ hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
      driver.submit({ hardState: hardStateOf(2), entries: [entryOf(2, 2)] });
      const expected = driver.model.describe();
      const closed = driver.harness.store.close();
      driver.harness.store.submit(
        stepOf({ hardState: hardStateOf(9), onDurable: () => expect.unreachable() }),
      );
      await closed;
      expect(driver.told).toEqual([0, 1]);
      expect(describeReplicas(await driver.harness.reopen())).toEqual(expected);
    });
  });

  test.each([
    ["a gap before its entries", { entries: [entryOf(4, 2)] }],
    ["a term that falls", { hardState: hardStateOf(1) }],
    ["a second vote in one term", { hardState: hardStateOf(2, 2) }],
    ["an entry of an older term", { entries: [entryOf(3, 1)] }],
    ["an entry of a term not yet taken", { entries: [entryOf(3, 3)] }],
    ["an older log time", { entries: [{ ...entryOf(3, 2), timeMs: entryOf(1, 1).timeMs }] }],
    [
      "a truncated committed entry",
      { truncateFrom: indexOf(1), entries: [entryOf(1, 2), entryOf(2, 2)] },
    ],
    ["a commit index behind the end", { hardState: hardStateOf(2, 1, 3) }],
    ["a base that is in no snapshot", { base: positionOf(1, 1) }],
    ["a snapshot of what is not committed", { snapshot: positionOf(2, 2) }],
    ["a snapshot of another entry", { snapshot: positionOf(1, 2) }],
    ["a base of another time", { base: { ...positionOf(1, 1), timeMs: entryOf(2, 1).timeMs } }],
  ])("a step with %s is a bug, and is not written", async (_, parts) => {
    await withStore([replicaOf(0)], async (driver) => {
      const entries = [entryOf(1, 1), entryOf(2, 2)];
      driver.submit({ hardState: hardStateOf(2, 1, 1), entries });
      const step = stepOf({ ...parts, onDurable: () => expect.unreachable() });
      expect(() => driver.harness.store.submit(step)).toThrow(InvariantError);
      await driver.reopen();
    });
  });
}

/** Kept apart from the table above: each needs a log that has moved already. */
function describeBackwardSteps(withStore: WithStore): void {
  test.each([
    ["a base that goes back", { base: positionOf(1, 1) }],
    ["a snapshot that goes back", { snapshot: positionOf(2, 2) }],
    [
      "entries that do not follow an installed snapshot",
      {
        hardState: hardStateOf(2, 1, 9),
        snapshot: positionOf(9, 2),
        base: positionOf(9, 2),
        entries: [entryOf(4, 2)],
      },
    ],
  ])("a step with %s is a bug, and is not written", async (_, parts) => {
    await withStore([replicaOf(0)], async (driver) => {
      const entries = [entryOf(1, 1), entryOf(2, 2), entryOf(3, 2)];
      driver.submit({ hardState: hardStateOf(2, 1, 3), entries });
      driver.submit({ snapshot: positionOf(3, 2), base: positionOf(2, 2) });
      const step = stepOf({ ...parts, onDurable: () => expect.unreachable() });
      expect(() => driver.harness.store.submit(step)).toThrow(InvariantError);
      await driver.reopen();
    });
  });
}

function describeRandomSteps(withStore: WithStore): void {
  const replicas = [replicaOf(0), replicaOf(1, 2), replicaOf(7, 3)];

  async function runHistory(seed: number): Promise<void> {
    await withStore(replicas, async (driver) => {
      const prng = Prng.fromSeed(seed);
      for (let turn = 0; turn < TURNS_PER_HISTORY; turn++) {
        for (let steps = prng.nextInteger(1, 6); steps > 0; steps--) driver.submitRandom(prng);
        if (prng.chance(0.5)) await driver.settle();
        if (prng.chance(0.1)) await driver.checkpoint();
        if (prng.chance(0.1)) await driver.crash();
      }
      await driver.reopen();
    });
  }

  /** Histories in lanes: most of the time goes into waiting for disks. */
  async function runLane(firstSeed: number): Promise<void> {
    for (let seed = firstSeed; seed < HISTORIES; seed += LANES) {
      await runHistory(seed).catch((error: unknown) => {
        throw new Error(`history of seed ${seed}`, { cause: error });
      });
    }
  }

  test(
    `${HISTORIES} random histories are found as acknowledged`,
    { timeout: 120_000 },
    async () => {
      await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
    },
  );
}
