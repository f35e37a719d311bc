import { expect, test, vi } from "vitest";
import { MemoryLogStore } from "../../src/testing/memory-log-store.ts";
import {
  describeReplicas,
  entryOf,
  hardStateOf,
  replicaOf,
  stepOf,
  StoreModel,
} from "../conformance/log-steps.ts";
import { describeLogStore } from "../conformance/log-store.ts";

describeLogStore("the memory store", async (replicas) => {
  let store = new MemoryLogStore({ replicas });
  return {
    get store() {
      return store;
    },
    settle: () => store.completeAll(),
    reopen: async () => {
      await store.close();
      const opened = store.reopen();
      ({ store } = opened);
      return opened.replicas;
    },
    crash: async () => {
      store.crash(store.pendingWrites >> 1);
      const opened = store.reopen();
      ({ store } = opened);
      return opened.replicas;
    },
    dispose: () => store.close(),
  };
});

const first = stepOf({ hardState: hardStateOf(1), entries: [entryOf(1, 1)] });
const second = stepOf({ hardState: hardStateOf(2) });
const third = stepOf({ entries: [entryOf(2, 2)] });

test("nothing is durable before the test completes its write", () => {
  const onDurable = vi.fn();
  const store = new MemoryLogStore({ replicas: [replicaOf(0)] });
  store.submit({ ...first, onDurable });
  store.submit({ ...second, onDurable });
  store.submit({ ...third, onDurable });
  expect(store.pendingWrites).toBe(2);
  expect(onDurable).not.toHaveBeenCalled();
  expect(store.completeNext()).toBe(true);
  expect(onDurable).toHaveBeenCalledTimes(1);
  expect(store.completeNext()).toBe(true);
  expect(onDurable).toHaveBeenCalledTimes(3);
  expect(store.completeNext()).toBe(false);
});

test("a crash loses what was not completed, but for the writes that reached the disk", () => {
  for (const keptWrites of [0, 1, 2]) {
    const store = new MemoryLogStore({ replicas: [replicaOf(0)] });
    const model = new StoreModel([replicaOf(0)]);
    const steps = [first, second, third];
    for (const step of steps) store.submit({ ...step, onDurable: () => expect.unreachable() });
    const kept = [0, 1, 3][keptWrites];
    for (const step of steps.slice(0, kept)) model.take(step);
    store.crash(keptWrites);
    expect(store.completeNext()).toBe(false);
    expect(describeReplicas(store.reopen().replicas)).toEqual(model.describe());
  }
});

test("a failed write is told once, and neither it nor anything after it is durable", () => {
  const onFatal = vi.fn();
  const onDurable = vi.fn();
  const store = new MemoryLogStore({ replicas: [replicaOf(0)], onFatal });
  store.submit({ ...first, onDurable });
  store.submit({ ...second, onDurable });
  store.failNext();
  store.submit({ ...third, onDurable });
  store.completeAll();
  expect(onFatal).toHaveBeenCalledTimes(1);
  expect(onDurable).not.toHaveBeenCalled();
  expect(describeReplicas(store.reopen().replicas)).toEqual(
    new StoreModel([replicaOf(0)]).describe(),
  );
});
