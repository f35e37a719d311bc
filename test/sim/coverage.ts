/**
 * What the whole simulation counts. A long run in which one of these never happened proves little,
 * so a run of many seeds fails for it.
 */

/** What happened to the cluster and its clients. */
const HAPPENED = [
  "elections",
  "stepDowns",
  "transfersStarted",
  "transfersAborted",
  "truncations",
  "crashesWithLoss",
  "batchesLost",
  "lossesWithHoles",
  "restartsFromDisk",
  "admittedServers",
  "unusableStores",
  "fallenStores",
  "witnessedLosses",
  "disowned",
  "fatalWrites",
  "grants",
  "expiries",
  "releases",
  "successorGrants",
  "handOversAsked",
  "handOversTakenBack",
  "handedOver",
  "successorsRecorded",
  "successorsWithdrawn",
  "intendedGrants",
  "provenRestarts",
  "registeredWithProof",
  "registeredWithout",
  "importsCommitted",
  "importsAborted",
  "checkpoints",
  "snapshotsInstalled",
  "restartsFromSnapshots",
  "logsShortened",
  "renewals",
  "renewalsFailed",
  "viewsTooOld",
  "sessionsOpened",
  "sessionsLost",
  "sessionsClosed",
  "stoppedAsStale",
  "lapses",
  "heldAgain",
  "unknownOutcomes",
  "outcomesResolved",
  "requestsReplayed",
  "linearizableReads",
  "followerReads",
  "localReads",
  "pagedLists",
  "watchSnapshots",
  "watchResumes",
  "watchCompactions",
  "slowWatchers",
  "admissions",
  "stillHeld",
  "uncertain",
  "guardedWrites",
  "fencedOff",
] as const;

/** Harm, by the name of the fault that did it. */
const INJECTED = [
  "messagesLost",
  "messagesRepeated",
  "messagesReordered",
  "oldMessages",
  "forwardsLost",
  "forwardAnswersLost",
  "callsLost",
  "answersLost",
  "callsRepeated",
  "watchesBroken",
  "snapshotsBroken",
  "peerCutsOneWay",
  "peerIsolations",
  "peerPartitions",
  "linksRefused",
  "linksSilent",
  "allLinksSilent",
  "serverKills",
  "serverKillsAtPoint",
  "crashLoops",
  "powerCuts",
  "clusterPowerCuts",
  "leaderTransfers",
  "serverPauses",
  "serverStops",
  "slowDisks",
  "appendErrors",
  "syncErrors",
  "hungDisks",
  "storesLost",
  "logsEmptied",
  "logsRolledBack",
  "storesRolledBack",
  "ownerPauses",
  "ownerCrashes",
  "ownerReplacements",
  "ownerCloses",
  "ownerReleases",
  "ownerCopies",
  "clientPauses",
  "storeCrashes",
  "suspensions",
  "rateChanges",
  "clockJumps",
] as const;

export const COVERED = [...HAPPENED, ...INJECTED] as const;

export type Covered = (typeof COVERED)[number];
export type Coverage = Record<Covered, number>;

export function newCoverage(): Coverage {
  return Object.fromEntries(COVERED.map((what) => [what, 0])) as Coverage;
}

export function addCoverage(total: Coverage, more: Coverage): void {
  for (const what of COVERED) total[what] += more[what];
}

/** What never happened. */
export function missing(coverage: Coverage): Covered[] {
  return COVERED.filter((what) => coverage[what] === 0);
}
