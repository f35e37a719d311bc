/**
 * Virtual time that goes on by itself while a test waits for promises.
 */

import type { VirtualClock } from "../../src/testing/virtual-clock.ts";

/** Moves time on until the work is done; its value, or its error. */
export async function onVirtualTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  for (let ms = 0; !isDone; ms++) {
    if (ms > 100_000) throw new Error("nothing more happens");
    await clock.advance(1);
  }
  return await ended;
}
