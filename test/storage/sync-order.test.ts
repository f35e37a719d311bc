import { expect, test } from "vitest";
import type { ServerId } from "../../src/base/brands.ts";
import { bytesToUtf8 } from "../../src/base/bytes.ts";
import type { Message } from "../../src/raft/messages.ts";
import type { Outbound } from "../../src/raft/output.ts";
import { type KeyValueStore, openLevelDb } from "../../src/storage/level-db.ts";
import { openLogStore } from "../../src/storage/log-store.ts";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { replicaOf } from "../conformance/log-steps.ts";
import { CoreHost } from "./core-host.ts";
import { createStore, EXPECTED, NO_TIMERS, withTempDir } from "./level-harness.ts";

const SERVERS = [1, 2, 3];

/** Three cores on three real log stores, joined by a network without delay; and what happened. */
class Trio {
  readonly hosts = new Map<number, CoreHost>();
  /** In order: "1 receives ...", "1 syncs", "1 sends ...", "1 answers ...". */
  readonly events: string[] = [];
  readonly #closers: (() => Promise<void>)[] = [];

  async start(dir: string): Promise<void> {
    for (const id of SERVERS) {
      const at = `${dir}/${id}`;
      await createStore(at, [replicaOf(0, id)], { serverId: id as ServerId });
      const openDb: typeof openLevelDb = async (location, mode) =>
        this.#recording(id, await openLevelDb(location, mode));
      const opened = await openLogStore(
        {
          dir: at,
          expect: { ...EXPECTED, serverId: id as ServerId },
          timers: NO_TIMERS,
          onFatal: () => expect.unreachable(),
        },
        { files: new NodeFileStore(at), openDb },
      );
      this.#closers.push(() => opened.store.close());
      const host = new CoreHost(opened, {
        send: (messages) => this.#send(id, messages),
        onCommitted: (entries) => {
          for (const { payload } of entries) this.events.push(`${id} answers ${textOf(payload)}`);
        },
      });
      this.hosts.set(id, host);
    }
  }

  async stop(): Promise<void> {
    for (const close of this.#closers) await close();
  }

  host(id: number): CoreHost {
    return this.hosts.get(id) ?? expect.fail("no such server");
  }

  /** Lets disks and messages work until something has happened. */
  async until(event: RegExp): Promise<void> {
    while (!this.events.some((one) => event.test(one))) await turn();
  }

  /** Places of the events that match, in order. */
  places(event: RegExp): number[] {
    return this.events.flatMap((one, at) => (event.test(one) ? [at] : []));
  }

  #recording(id: number, inner: KeyValueStore): KeyValueStore {
    return {
      openBatch: () => {
        const batch = inner.openBatch();
        return {
          put: (key, value) => batch.put(key, value),
          delete: (key) => batch.delete(key),
          write: async () => {
            await batch.write();
            this.events.push(`${id} syncs`);
          },
        };
      },
      deleteUnsynced: (keys) => inner.deleteUnsynced(keys),
      compact: (first, last) => inner.compact(first, last),
      scan: () => inner.scan(),
      close: () => inner.close(),
    };
  }

  #send(from: number, messages: readonly Outbound[]): void {
    for (const { to, message } of messages) {
      this.events.push(`${from} sends ${nameOf(message)} to ${to}`);
      setImmediate(() => {
        this.events.push(`${to} receives ${nameOf(message)} from ${from}`);
        this.host(to).receive(from, message);
      });
    }
  }
}

function nameOf(message: Message): string {
  if (message.kind === "appendEntries") {
    return `append [${message.entries.map(({ payload }) => textOf(payload)).join()}]`;
  }
  if (message.kind === "appendEntriesReply") {
    const { result } = message;
    return result.kind === "accepted" ? `accepted ${result.matchIndex}` : "rejected";
  }
  if (message.kind === "requestVoteReply") return message.granted ? "vote" : "no vote";
  return message.kind;
}

function textOf(payload: Uint8Array): string {
  return payload.length === 0 ? "noop" : (bytesToUtf8(payload) ?? "?");
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function withLeader(run: (trio: Trio) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    const trio = new Trio();
    await trio.start(dir);
    for (let tick = 0; tick < 21; tick++) trio.host(1).tick();
    await trio.until(/^1 answers noop/);
    await run(trio);
    await trio.stop();
  });
}

test("a granted vote is preceded by a sync, the candidate's own included (B10, §5.2)", async () => {
  await withLeader(async (trio) => {
    const votes = trio.places(/^\d sends vote to 1/);
    expect(votes.length).toBeGreaterThan(0);
    for (const sent of votes) {
      const voter = trio.events[sent]?.[0];
      const asked = trio.places(new RegExp(`^${voter} receives requestVote`))[0] ?? sent;
      const synced = trio.places(new RegExp(`^${voter} syncs`));
      expect(synced.some((at) => at > asked && at < sent)).toBe(true);
    }
    const [stood] = trio.places(/^1 sends requestVote/);
    const [own] = trio.places(/^1 syncs/);
    expect(own).toBeLessThan(stood ?? 0);
  });
});

test("a sync on a majority lies between the append and the client's reply (B10, §5.3)", async () => {
  await withLeader(async (trio) => {
    const start = trio.events.length;
    trio.host(1).propose("command");
    await trio.until(/^1 answers command/);
    const answered = trio.places(/^1 answers command/)[0] ?? expect.fail("no answer");
    const synced = SERVERS.filter((id) => {
      const got = new RegExp(`^${id} receives append \\[(?:.*,)?command`);
      const received = id === 1 ? start - 1 : (trio.places(got)[0] ?? answered);
      return trio.places(new RegExp(`^${id} syncs`)).some((at) => at > received && at < answered);
    });
    expect(synced.length).toBeGreaterThanOrEqual(2);
    const accepted = trio.places(/^[23] sends accepted 2/).filter((at) => at < answered);
    for (const sent of accepted) {
      const follower = trio.events[sent]?.[0];
      const got = trio.places(new RegExp(`^${follower} receives append \\[(?:.*,)?command`))[0];
      const places = trio.places(new RegExp(`^${follower} syncs`));
      expect(places.some((at) => at > (got ?? sent) && at < sent)).toBe(true);
    }
    expect(accepted.length).toBeGreaterThan(0);
  });
});
