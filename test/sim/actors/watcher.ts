/**
 * Watchers: each follows the changes in a scope of its own through a real client, now and then
 * slowly, now and then anew from its last token; the frames are judged by p20-watch.ts.
 */

import { utf8ToBytes } from "../../../src/base/bytes.ts";
import { CoordinationError } from "../../../src/client/errors.ts";
import type { WatchInput } from "../../../src/client/requests.ts";
import { WatchChecker } from "../checkers/p20-watch.ts";
import { type ActorWorld, Party } from "./party.ts";

const SLOW_MS_MAX = 1_500;

export class Watcher extends Party {
  readonly #scope: WatchInput;
  /** It takes its time over each frame. */
  readonly isSlow: boolean;
  /** The latest that it has been shown, in this watch or one before. */
  toldTo = 0;
  #checker: WatchChecker;
  #token: Uint8Array | undefined;

  constructor(
    world: ActorWorld,
    options: {
      readonly name: string;
      readonly scope: WatchInput;
      readonly isSlow: boolean;
    },
  ) {
    super(world, { name: options.name });
    this.#scope = options.scope;
    this.isSlow = options.isSlow;
    this.#checker = new WatchChecker(world.oracle, options.scope);
  }

  start(): void {
    this.#follow().catch(this.world.onBug);
  }

  async #follow(): Promise<void> {
    for (;;) {
      const leaving = new AbortController();
      const stop = this.clock.after(this.prng.nextInteger(500, 12_000), () => leaving.abort());
      try {
        await this.#watchUntil(leaving.signal);
      } catch (error) {
        if (!(error instanceof CoordinationError)) throw error;
        this.world.trace.say(`${this.name}: ${error.reason}`);
        // The keyspace may not be there yet; what is no longer kept must be read anew.
        if (error.reason === "COMPACTED") this.#startOver();
      }
      stop();
      await this.clock.passing(this.prng.nextInteger(1, 300));
      if (this.prng.chance(0.2)) this.#startOver();
    }
  }

  async #watchUntil(signal: AbortSignal): Promise<void> {
    const { trace } = this.world;
    const resumeToken = this.#token;
    const failIfCompacted = this.prng.chance(0.3);
    const onInterrupted = (): void => this.#countResume();
    if (resumeToken !== undefined) this.#countResume();
    const input = { ...this.#scope, resumeToken, failIfCompacted };
    for await (const frame of this.client.watch(input, { signal, onInterrupted })) {
      this.#checker.onFrame(frame);
      this.toldTo = Math.max(this.toldTo, frame.header.revision);
      this.#token = frame.resumeToken;
      if (frame.kind === "snapshot") {
        trace.count(frame.afterCompaction ? "watchCompactions" : "watchSnapshots");
      }
      if (!this.isSlow) continue;
      trace.count("slowWatchers");
      await this.clock.passing(this.prng.nextInteger(1, SLOW_MS_MAX));
    }
  }

  #countResume(): void {
    if (this.#token !== undefined) this.world.trace.count("watchResumes");
  }

  #startOver(): void {
    this.#token = undefined;
    this.#checker = new WatchChecker(this.world.oracle, this.#scope);
  }
}

/** Scopes that overlap: everything, one keyspace, a span of it, one storage node. */
export function watchScopes(nodeIds: readonly string[]): readonly WatchInput[] {
  const span = { startKey: utf8ToBytes("f"), endKey: utf8ToBytes("p") };
  return [
    {},
    { keyspace: "space0" },
    { keyspace: "space0", span },
    ...nodeIds.slice(0, 1).map((nodeId) => ({ nodeId })),
  ];
}
