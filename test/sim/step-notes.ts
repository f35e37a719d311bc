/**
 * What the trace keeps of a core's step: numbers for the hash, words for readers, and counts.
 */

import type { Output } from "../../src/raft/output.ts";
import { inputToText, outputToText } from "../raft/step-text.ts";
import type { Step } from "./group-history.ts";
import type { Trace } from "./trace.ts";

type Noted = Omit<Step, "trueMs">;

export function stepToNumbers({ server, group, input, output, after }: Noted): readonly number[] {
  return [
    server * 64 + group,
    input.kind.length,
    after.term,
    after.lastIndex,
    after.commitIndex,
    after.persistedIndex,
    output.sendNow.length * 16 + output.sendAfterPersist.length,
  ];
}

export function stepToText({ server, group, input, output, after }: Noted): string {
  const did = outputToText(after.self, output).join("; ");
  return `server ${server} group ${group}: ${inputToText(input)} -> ${did}`;
}

/** Counts what the output shows. */
export function countStep(trace: Trace, output: Output): void {
  if (output.install !== undefined) trace.count("snapshotsInstalled");
  if (output.persist?.base !== undefined) trace.count("logsShortened");
  for (const { kind } of output.transitions) {
    if (kind === "becameLeader") trace.count("elections");
    if (kind === "steppedDown") trace.count("stepDowns");
    if (kind === "transferStarted") trace.count("transfersStarted");
    if (kind === "transferAborted") trace.count("transfersAborted");
    if (kind === "truncated") trace.count("truncations");
  }
}
