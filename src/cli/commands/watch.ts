// `cadastre watch`: every change of ownership as it happens, one line each, until Ctrl-C; then the
// token with which a later watch goes on without missing anything.
import type { Command } from "commander";
import type { Bytes } from "../../base/bytes.ts";
import type { Span } from "../../base/span.ts";
import type { CallOptions } from "../../client/call.ts";
import type { Client } from "../../client/client.ts";
import type { WatchFrame } from "../../wire/api.ts";
import { type CliContext, type CommandModule, toJsonText } from "../context.ts";
import { type KindOf, KeyspaceKinds } from "../directory/keyspace-kinds.ts";
import { findKeyspace } from "../directory/keyspaces.ts";
import { parseName, parseSpan, parseToken, tokenText, valueOfKind } from "../directory/options.ts";
import { usageError } from "../failure.ts";
import { addExamples } from "../help.ts";
import type { EitherKind } from "../render/keys.ts";
import { type VerbWorld, withConnection } from "../verb-world.ts";
import {
  changeJson,
  changeLine,
  progressLine,
  snapshotJson,
  snapshotLine,
  snapshotRangeLine,
  withToken,
} from "../watch/change-lines.ts";

interface WatchVerbOptions {
  readonly keyspace?: string;
  readonly span?: EitherKind<Span>;
  readonly node?: string;
  readonly from?: Bytes;
  readonly failIfCompacted?: boolean;
  readonly progress?: boolean;
  readonly snapshot: boolean;
  readonly full?: boolean;
}

export function watchCommand(world: VerbWorld): CommandModule {
  return {
    register(program: Command, context: CliContext): void {
      const watch = program
        .command("watch")
        .description("Print every change of ownership, one line each, until Ctrl-C.")
        .option("--keyspace <name>", "only this keyspace", parseName)
        .option("--span <A..B>", "only ranges that overlap it; needs --keyspace", parseSpan)
        .option("--node <id>", "only what this storage node owns or is to own", parseName)
        .option("--from <token>", "go on after the line that had this token", parseToken)
        .option("--fail-if-compacted", "end with exit 4 when --from is too old, not a new snapshot")
        .option("--progress", "print how far the watch is while nothing happens")
        .option("--no-snapshot", "leave the snapshot at the start out")
        .option("--full", "print every range of the snapshot")
        .action((options: WatchVerbOptions) => watchChanges(world, context, options));
      addExamples(watch, [
        { run: "npx cadastre watch --keyspace demo", does: "what changes in one keyspace" },
        {
          run: "npx cadastre watch --node n1 --no-snapshot -o json",
          does: "JSON lines about one node",
        },
      ]);
    },
  };
}

async function watchChanges(
  world: VerbWorld,
  context: CliContext,
  options: WatchVerbOptions,
): Promise<void> {
  if (options.span !== undefined && options.keyspace === undefined) {
    throw usageError("--span needs a keyspace", "add --keyspace NAME");
  }
  if (options.full === true && !options.snapshot) {
    throw usageError("--full and --no-snapshot exclude each other");
  }
  await withConnection(world, context, async ({ client }, call) => {
    const kinds = new KeyspaceKinds(client, call);
    const span = await spanOf(client, options, call);
    const { keyspace, node: nodeId, from: resumeToken, failIfCompacted } = options;
    const interrupt = world.catchInterrupt();
    let token: Bytes | undefined;
    let lastTrouble: string | undefined;
    try {
      const frames = client.watch(
        { keyspace, span, nodeId, resumeToken, failIfCompacted },
        {
          signal: interrupt.signal,
          onInterrupted: ({ message }) => {
            if (message !== lastTrouble) context.note(`${message}; going on at another server`);
            lastTrouble = message;
          },
        },
      );
      for await (const frame of frames) {
        lastTrouble = undefined;
        await kinds.learn(keyspacesOf(frame));
        for (const line of linesOf(frame, context, options, kinds.kindOf)) {
          context.stdout.write(`${line}\n`);
        }
        token = frame.resumeToken ?? token;
      }
      token ??= resumeToken;
    } finally {
      interrupt.dispose();
      if (token !== undefined) context.note(`resume with --from ${tokenText(token)}`);
    }
  });
}

async function spanOf(
  client: Client,
  options: WatchVerbOptions,
  call: CallOptions,
): Promise<Span | undefined> {
  if (options.keyspace === undefined) return undefined;
  const { kind } = await findKeyspace(client, options.keyspace, call);
  return options.span === undefined ? undefined : valueOfKind(options.span, kind, "--span");
}

function linesOf(
  frame: WatchFrame,
  context: CliContext,
  options: WatchVerbOptions,
  kindOf: KindOf,
): string[] {
  const isJson = context.options.output === "json";
  switch (frame.kind) {
    case "snapshot": {
      if (!options.snapshot && !frame.afterCompaction) return [];
      const isFull = options.full === true;
      if (isJson) return [toJsonText(withToken(snapshotJson(frame, kindOf, isFull), frame, true))];
      const ranges = isFull ? frame.ranges : [];
      return [snapshotLine(frame), ...ranges.map((range) => snapshotRangeLine(range, kindOf))];
    }
    case "changes": {
      const changes = frame.revisions.flatMap(({ revision, changes: ofRevision }) =>
        ofRevision.map((change) => ({ revision, change })),
      );
      return changes.map(({ revision, change }, at) => {
        if (!isJson) return changeLine(revision, change, kindOf);
        const json = changeJson(revision, change, kindOf);
        return toJsonText(withToken(json, frame, at === changes.length - 1));
      });
    }
    case "progress": {
      if (options.progress !== true) return [];
      if (!isJson) return [progressLine(frame.header)];
      const json = { kind: "progress", revision: String(frame.header.revision) };
      return [toJsonText(withToken(json, frame, true))];
    }
  }
}

function keyspacesOf(frame: WatchFrame): Set<string> {
  const names = new Set<string>();
  if (frame.kind === "snapshot") {
    for (const { descriptor } of frame.ranges) names.add(descriptor.keyspace);
  } else if (frame.kind === "changes") {
    for (const { changes } of frame.revisions) {
      for (const { before, after } of changes) {
        const keyspace = (after ?? before)?.descriptor.keyspace;
        if (keyspace !== undefined) names.add(keyspace);
      }
    }
  }
  return names;
}
