// Which facts about a server make it alive, and which make it ready (two questions: a server that
// has lost its quorum is alive, and restarting it would help nobody). Pure.
import type { GroupHealth, HealthFacts } from "./port.ts";

export interface HealthCheck {
  readonly name: string;
  /** Why it failed; undefined: it holds. */
  readonly problem: string | undefined;
}

/** The server confirms a ReadIndex at least every second; three missed ones are no accident. */
export const READ_INDEX_AGE_MS_MAX = 3_000;

/** Whether restarting the process is the cure. That this runs at all shows that the loop turns. */
export function livenessChecks(facts: HealthFacts): readonly HealthCheck[] {
  return [
    { name: "event-loop", problem: undefined },
    { name: "no-fatal-error", problem: facts.fatalError },
  ];
}

/** Whether requests should be sent here now. */
export function readinessChecks(facts: HealthFacts): readonly HealthCheck[] {
  return [
    { name: "no-fatal-error", problem: facts.fatalError },
    { name: "storage", problem: facts.storageError },
    { name: "takes-part", problem: facts.abstention },
    { name: "replayed", problem: groupsProblem(facts.groups, replayProblem) },
    { name: "leader", problem: groupsProblem(facts.groups, leaderProblem) },
    { name: "read-index", problem: groupsProblem(facts.groups, readIndexProblem) },
    { name: "not-draining", problem: facts.isDraining ? "the server is stopping" : undefined },
  ];
}

export function isReady(facts: HealthFacts): boolean {
  return readinessChecks(facts).every(({ problem }) => problem === undefined);
}

function groupsProblem(
  groups: readonly GroupHealth[],
  problemOf: (group: GroupHealth) => string | undefined,
): string | undefined {
  if (groups.length === 0) return "no group has been started yet";
  const problems = groups.flatMap((one) => {
    const problem = problemOf(one);
    return problem === undefined ? [] : [`group ${one.group} ${problem}`];
  });
  return problems.length === 0 ? undefined : problems.join(", ");
}

function replayProblem({ isReplayed, awaitsSnapshot }: GroupHealth): string | undefined {
  if (awaitsSnapshot) return "is far behind and receives a snapshot";
  return isReplayed ? undefined : "is still replaying its log";
}

function leaderProblem({ leaderServerId }: GroupHealth): string | undefined {
  return leaderServerId === undefined ? "has no leader" : undefined;
}

function readIndexProblem({ readIndexAgeMs }: GroupHealth): string | undefined {
  if (readIndexAgeMs === undefined) return "has not confirmed a read yet";
  if (readIndexAgeMs <= READ_INDEX_AGE_MS_MAX) return undefined;
  const seconds = (readIndexAgeMs / 1_000).toFixed(1);
  return `was last current ${seconds} s ago (no quorum, or a disk that hangs?)`;
}
