/**
 * Runs the scenario scripts of test/scenarios: see the README there for the commands.
 *
 * Messages wait on their link, persist steps on their disk, until the script moves them, so each
 * interleaving is spelt out. A script gives the trace that it expects below each command. All
 * invariants, of replicas and of the group, are checked after every step.
 */

import { assert, defined } from "../../src/base/assert.ts";
import type { LogIndex, LogTimeMs, MonotonicMs, ReplicaId, Term } from "../../src/base/brands.ts";
import { utf8ToBytes } from "../../src/base/bytes.ts";
import { RaftCore } from "../../src/raft/core.ts";
import type { Input } from "../../src/raft/input.ts";
import { checkStep } from "../../src/raft/invariants.ts";
import type { Message } from "../../src/raft/messages.ts";
import { type Entry, LOG_START, type LogPosition, type RaftConfig } from "../../src/raft/types.ts";
import { RaftCheckers } from "../sim/raft-checkers.ts";
import { SimDisk } from "../sim/raft-disk.ts";
import type { Given } from "./checked-core.ts";
import { raftConfig } from "./raft-config.ts";
import { messageToText, outputToText } from "./step-text.ts";

interface Replica {
  readonly id: ReplicaId;
  readonly config: RaftConfig;
  readonly disk: SimDisk;
  core: RaftCore | undefined;
}

/** Steps after which `settle` gives up: scripts are small, so this is a group that never rests. */
const SETTLE_STEPS_MAX = 1_000;

export class ScenarioRunner {
  readonly #replicas: Replica[] = [];
  readonly #links = new Map<string, Message[]>();
  readonly #kept = new Map<string, { readonly link: string; readonly message: Message }>();
  readonly #entries = new Map<string, Entry>();
  readonly #crashed = new Set<ReplicaId>();
  /** Checkpoints that were taken, by "term/index". */
  readonly #positions = new Map<string, LogPosition>();
  #checkers: RaftCheckers | undefined;
  #nowMs = 0;
  #nextProposalId = 1;
  #trace: string[] = [];

  /** Runs one command and gives its trace. */
  run(command: string): readonly string[] {
    this.#trace = [];
    const [verb = "", ...words] = command.split(/\s+/);
    this.#execute(verb, words, command);
    return this.#trace;
  }

  #execute(verb: string, words: readonly string[], command: string): void {
    const [first = "", second = ""] = words;
    switch (verb) {
      case "group":
        this.#createGroup(Number(first), optionsOf(words));
        return;
      case "log":
        this.#presetLog(this.#replica(first), words.slice(1));
        return;
      case "campaign":
        this.#campaign(this.#replica(first));
        return;
      case "tick":
        for (let i = Number(second || "1"); i > 0; i--) {
          this.#step(this.#replica(first), { kind: "tick" });
        }
        return;
      case "wait":
        this.#nowMs += Number(first);
        return;
      case "propose": {
        const payload = utf8ToBytes(second);
        const proposalId = this.#nextProposalId++;
        this.#step(this.#replica(first), { kind: "propose", proposalId, payload });
        return;
      }
      case "read": {
        const readId = Number(second.replace("#", ""));
        defined(this.#checkers, "a script starts with `group`").readStarted(readId);
        this.#step(this.#replica(first), { kind: "readIndex", readId });
        return;
      }
      case "checkpoint":
        this.#checkpoint(this.#replica(first), Number(second) as LogIndex);
        return;
      case "fetched":
        this.#fetched(this.#replica(first), second);
        return;
      case "unreachable":
        this.#step(this.#replica(first), {
          kind: "peerUnreachable",
          peer: Number(second) as ReplicaId,
        });
        return;
      case "transfer":
        this.#step(this.#replica(first), {
          kind: "transfer",
          target: second === "" ? undefined : (Number(second) as ReplicaId),
        });
        return;
      case "deliver":
        this.#deliver(first, second);
        return;
      case "drop":
        if (second === "all") this.#links.set(first, []);
        else this.#take(first);
        return;
      case "keep":
        this.#kept.set(second, { link: first, message: this.#peek(first) });
        return;
      case "replay": {
        const { link, message } = defined(this.#kept.get(first), `nothing is kept as ${first}`);
        this.#receive(link, message);
        return;
      }
      case "persist":
        this.#persist(this.#replica(first), second === "all");
        return;
      case "settle":
        this.#settle();
        return;
      case "crash":
        this.#crash(this.#replica(first), Number(optionsOf(words).get("keep") ?? 0));
        return;
      case "restart":
        this.#start(this.#replica(first));
        return;
      case "show":
        this.#show(this.#replica(first));
        return;
      case "queue":
        for (const message of this.#queue(first)) {
          this.#trace.push(`${first} ${messageToText(message)}`);
        }
        return;
      default:
        assert(false, `a known command, not: ${command}`);
    }
  }

  #createGroup(size: number, options: ReadonlyMap<string, string>): void {
    const voters = Array.from({ length: size }, (_, at) => (at + 1) as ReplicaId);
    const limits = {
      inflightMessagesMax: Number(options.get("window") ?? 16),
      appendBytesMax: Number(options.get("appendBytes") ?? 10_000),
      uncommittedBytesMax: Number(options.get("uncommittedBytes") ?? 100_000),
      pendingReadsMax: Number(options.get("reads") ?? 16),
      logTrailingBytes: Number(options.get("trailingBytes") ?? 0),
      logHeldBytesMax: Number(options.get("heldBytes") ?? 100_000),
    };
    const disks = new Map<ReplicaId, SimDisk>();
    for (const id of voters) {
      const disk = new SimDisk((entry, term) => this.#checkers?.truncated(entry, term));
      disks.set(id, disk);
      const config = raftConfig({ self: id, voters, ...limits });
      this.#replicas.push({ id, config, disk, core: undefined });
    }
    this.#checkers = new RaftCheckers(disks, raftConfig({}).tickMs);
  }

  /** `log 2 1 1 3 term=4 vote=1 commit=2`: terms of its entries, and its hard state. */
  #presetLog(replica: Replica, words: readonly string[]): void {
    const options = optionsOf(words);
    const terms = words.filter((word) => !word.includes("=")).map(Number);
    const entries = terms.map((term, at) => this.#entryOf(at + 1, term));
    const vote = options.get("vote");
    const commitIndex = Number(options.get("commit") ?? 0) as LogIndex;
    replica.disk.preset({
      hardState: {
        term: Number(options.get("term") ?? terms.at(-1) ?? 0) as Term,
        votedFor: vote === undefined ? undefined : (Number(vote) as ReplicaId),
        commitIndex,
      },
      snapshot: LOG_START,
      base: LOG_START,
      entries,
    });
    defined(this.#checkers, "a script starts with `group`").preset(entries, commitIndex);
  }

  /** Equal index and term is the same entry, as after replication. */
  #entryOf(index: number, term: number): Entry {
    const key = `${index}:${term}`;
    const known = this.#entries.get(key) ?? {
      index: index as LogIndex,
      term: term as Term,
      kind: "command",
      timeMs: 0 as LogTimeMs,
      payload: utf8ToBytes(key),
    };
    this.#entries.set(key, known);
    return known;
  }

  /** The machine has applied what it was given; its state at index is on disk. */
  #checkpoint(replica: Replica, index: LogIndex): void {
    const core = defined(replica.core, "a replica that takes a checkpoint runs");
    const { deliveredIndex } = core.status();
    this.#step(replica, { kind: "applied", index: deliveredIndex });
    const { term, timeMs } = defined(core.entryAt(index), "a checkpoint is of an entry of the log");
    const position = { index, term, timeMs };
    this.#positions.set(`${term}/${index}`, position);
    replica.disk.addFile(position);
    this.#step(replica, { kind: "snapshotTaken", position });
  }

  /** The file of a checkpoint was fetched and decoded. */
  #fetched(replica: Replica, name: string): void {
    const position = defined(this.#positions.get(name), `a checkpoint was taken at ${name}`);
    replica.disk.addFile(position);
    this.#step(replica, { kind: "snapshotReceived", position });
  }

  /** Lets time pass for one replica alone until it asks for votes; traces only that tick. */
  #campaign(replica: Replica): void {
    const ticksMax = replica.config.electionTimeoutTicksMax + 1;
    for (let i = 0; i < ticksMax; i++) {
      this.#trace = [];
      this.#step(replica, { kind: "tick" });
      if (this.#trace.some((line) => line.includes("becomes preCandidate"))) return;
    }
    assert(false, `${replica.id} campaigns within an election timeout`);
  }

  #deliver(link: string, many: string): void {
    if (many !== "all") {
      this.#receive(link, this.#take(link));
      return;
    }
    const queue = this.#queue(link);
    this.#links.set(link, []);
    for (const message of queue) this.#receive(link, message);
  }

  /** What reaches a crashed replica is lost. */
  #receive(link: string, message: Message): void {
    const [from = "", to = ""] = link.split(">");
    const receiver = this.#replica(to);
    if (this.#crashed.has(receiver.id)) return;
    this.#step(receiver, { kind: "message", from: Number(from) as ReplicaId, message });
  }

  #persist(replica: Replica, all: boolean): void {
    do {
      if (!replica.disk.startWrite(1)) {
        assert(all, `${replica.id} has something to write`);
        return;
      }
      for (const { persist, held } of replica.disk.finishWrite()) {
        for (const { to, message } of held) this.#send(replica, to, message);
        const { lastTerm, lastIndex } = persist;
        this.#step(replica, { kind: "persisted", lastTerm, lastIndex });
      }
    } while (all);
  }

  #settle(): void {
    for (let steps = 0; steps < SETTLE_STEPS_MAX; steps++) {
      const writer = this.#replicas.find(({ disk, core }) => core && disk.pendingSteps > 0);
      const link = [...this.#links].find(([, queue]) => queue.length > 0)?.[0];
      if (writer !== undefined) this.#persist(writer, true);
      else if (link !== undefined) this.#receive(link, this.#take(link));
      else return;
    }
    assert(false, "a group comes to rest");
  }

  #crash(replica: Replica, keptSteps: number): void {
    replica.disk.crash(keptSteps);
    replica.core = undefined;
    this.#crashed.add(replica.id);
  }

  #start(replica: Replica): RaftCore {
    const core = new RaftCore(replica.config, replica.disk.restore());
    this.#checkers?.restarted(replica.id, core);
    replica.core = core;
    this.#crashed.delete(replica.id);
    return core;
  }

  #step(replica: Replica, given: Given): void {
    const core = replica.core ?? this.#start(replica);
    const { config } = replica;
    const before = core.status();
    const input: Input = { ...given, nowMs: this.#nowMs as MonotonicMs };
    const output = core.step(input);
    const after = checkStep({ config, core, before, input, output });
    const checkers = defined(this.#checkers, "a script starts with `group`");
    checkers.observe({ core, before, after, output, trueMs: this.#nowMs });
    this.#trace.push(...outputToText(replica.id, output));
    if (output.persist !== undefined) replica.disk.submit(output.persist);
    for (const { to, message } of output.sendNow) this.#send(replica, to, message);
    for (const outbound of output.sendAfterPersist) {
      if (!replica.disk.hold(outbound)) this.#send(replica, outbound.to, outbound.message);
    }
  }

  #send(replica: Replica, to: ReplicaId, message: Message): void {
    this.#checkers?.sending(replica.id, { to, message });
    const link = `${replica.id}>${to}`;
    this.#links.set(link, [...this.#queue(link), message]);
  }

  #queue(link: string): readonly Message[] {
    return this.#links.get(link) ?? [];
  }

  #peek(link: string): Message {
    return defined(this.#queue(link)[0], `a message waits on ${link}`);
  }

  #take(link: string): Message {
    const message = this.#peek(link);
    this.#links.set(link, this.#queue(link).slice(1));
    return message;
  }

  /** `1 leader t2 vote=1 log=1 1 2 commit=3 durable=3`; a log after base 1/7 is `1/7: 1 2`. */
  #show(replica: Replica): void {
    const core = replica.core ?? this.#start(replica);
    const { role, term, votedFor, commitIndex, persistedIndex, lastIndex } = core.status();
    const terms: number[] = [];
    const { base } = core;
    for (let index = base.index + 1; index <= lastIndex; index++) {
      terms.push(defined(core.entryAt(index as LogIndex), "the log has no gaps").term);
    }
    const start = base.index === 0 ? "" : `${base.term}/${base.index}: `;
    const log = `${start}${terms.length === 0 ? "-" : terms.join(" ")}`;
    this.#trace.push(
      `${replica.id} ${role} t${term} vote=${votedFor ?? "-"} log=${log} ` +
        `commit=${commitIndex} durable=${persistedIndex}`,
    );
  }

  #replica(word: string): Replica {
    return defined(this.#replicas[Number(word) - 1], `a replica of the group, not ${word}`);
  }
}

function optionsOf(words: readonly string[]): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  for (const word of words) {
    const [key = "", value] = word.split("=");
    if (value !== undefined) options.set(key, value);
  }
  return options;
}
