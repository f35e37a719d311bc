/** What wakes a stream that waits, and that nothing of it stays behind. */

import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { ShardGroup } from "../../../src/server/services/cluster-groups.ts";
import { Drain, News } from "../../../src/server/services/news.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";

class CountingDrain extends Drain {
  listeners = 0;

  override onBegin(run: () => void): () => void {
    this.listeners++;
    const stop = super.onBegin(run);
    return () => {
      this.listeners--;
      stop();
    };
  }
}

class World {
  readonly clock = new VirtualClock();
  readonly drainSignal = new AbortController();
  readonly drain = new CountingDrain(this.drainSignal.signal);
  /** One of each stream. */
  readonly callers: AbortController[] = [];
  readonly applied = new Set<() => void>();
  readonly shard = {
    onApplied: (run: () => void) => {
      this.applied.add(run);
      return () => this.applied.delete(run);
    },
  } as unknown as ShardGroup;

  news(): News {
    const caller = new AbortController();
    this.callers.push(caller);
    return new News(this.clock, this.drain, caller.signal);
  }

  /** Whether the wait is over without any time passing. */
  async isWoken(wait: Promise<void>): Promise<boolean> {
    let isOver = false;
    void wait.then(() => {
      isOver = true;
    });
    await this.clock.settle();
    return isOver;
  }

  get leftBehind(): number {
    let left = this.applied.size + this.drain.listeners + this.clock.pendingCount;
    for (const { signal } of this.callers) left += getEventListeners(signal, "abort").length;
    return left;
  }
}

test("a wait ends with news, with the caller, with the server, with the stream, or in time", async () => {
  const wakers: ((world: World, news: News) => void)[] = [
    ({ applied }) => applied.forEach((run) => run()),
    ({ callers }) => callers[0]?.abort(),
    ({ drainSignal }) => drainSignal.abort(),
    (_, news) => news.close(),
  ];
  for (const wake of wakers) {
    const world = new World();
    const news = world.news();
    news.listen(world.shard);
    const wait = news.wait(100);
    expect(await world.isWoken(wait)).toBe(false);
    wake(world, news);
    expect(await world.isWoken(wait)).toBe(true);
  }
  const world = new World();
  const wait = world.news().wait(100);
  await world.clock.advance(100);
  expect(await world.isWoken(wait)).toBe(true);
});

test("a stream that is closed leaves no listener and no timer, a waiting one included", async () => {
  const world = new World();
  const streams = Array.from({ length: 20 }, () => world.news());
  for (const news of streams) news.listen(world.shard);
  for (const news of streams)
    for (let at = 0; at < 3; at++) {
      const wait = news.wait(100);
      if (at < 2) world.applied.forEach((run) => run());
      expect(await world.isWoken(wait)).toBe(at < 2);
    }
  expect(world.drain.listeners).toBe(20);
  for (const news of streams) news.close();
  expect(world.leftBehind).toBe(0);
  expect(streams.every(({ isClosed }) => isClosed)).toBe(true);
});
