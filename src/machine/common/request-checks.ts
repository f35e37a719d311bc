/**
 * What must hold of a memory of answered requests, for the invariants of both machines. A memory is
 * seen as its records, which are all that there is to it.
 */

import type { Revision } from "../../base/brands.ts";
import type { StoredAnswer } from "./request-ids.ts";
import { MEMORY_BOUNDS, type RequestMemory } from "./request-memory.ts";

/** A memory at one moment. */
export interface MemoryPicture<Answer> {
  readonly floor: Revision;
  /** By client, ascending. */
  readonly clients: readonly ClientPicture<Answer>[];
}

interface ClientPicture<Answer> {
  readonly clientId: string;
  readonly mark: number;
  readonly answers: readonly StoredAnswer<Answer>[];
}

export function pictureOfMemory<Answer>(memory: RequestMemory<Answer>): MemoryPicture<Answer> {
  const cut = memory.openCut();
  let floor = 0 as Revision;
  const clients: (ClientPicture<Answer> & { readonly answers: StoredAnswer<Answer>[] })[] = [];
  for (const record of cut.records()) {
    if (record.kind === "floor") floor = record.floor;
    else if (record.kind === "client") clients.push({ ...record, answers: [] });
    else clients.at(-1)?.answers.push(record);
  }
  cut.close();
  return { floor, clients };
}

/** What is wrong with a memory at an entry; undefined: nothing. */
export function flawOfMemory<Answer>(
  memory: RequestMemory<Answer>,
  revision: Revision,
): string | undefined {
  const { floor, clients } = pictureOfMemory(memory);
  if (floor > revision) return "the floor is of the past";
  const revisions = new Set<number>();
  for (const { mark, answers } of clients) {
    if (answers.length === 0) return "a client that is known has an answer";
    for (const one of answers) {
      if (one.sequence < mark) return "what is acknowledged is dropped";
      const isOfThePast = one.seenRevision <= one.revision && one.revision <= revision;
      if (!isOfThePast) return "an answer is of the past, and what its client saw is older";
      revisions.add(one.revision);
    }
  }
  const isCounted = memory.answerCount === revisions.size && memory.clientCount === clients.length;
  if (!isCounted) return "answers have an entry each";
  return memory.answerCount > MEMORY_BOUNDS.answersMax ? "the memory is bounded" : undefined;
}

/** What an entry may not have done to a memory; undefined: it has not. */
export function lossOfMemory<Answer>(
  before: MemoryPicture<Answer>,
  memory: RequestMemory<Answer>,
): string | undefined {
  const now = pictureOfMemory(memory);
  if (now.floor < before.floor) return "the floor never goes back";
  const clients = new Map(now.clients.map((client) => [client.clientId, client]));
  for (const { clientId, mark, answers } of before.clients) {
    const client = clients.get(clientId);
    const isForgotten = answers.every(({ revision }) => revision < now.floor);
    const isBack = client !== undefined && client.mark < mark;
    if (isBack && !isForgotten) return "a mark never goes back while its client is known";
    const kept = new Map(client?.answers.map((one) => [one.sequence, one]));
    for (const { sequence, revision } of answers) {
      const mayBeForgotten = revision < now.floor || sequence < (client?.mark ?? 0);
      if (!mayBeForgotten && kept.get(sequence)?.revision !== revision) {
        return "nothing is forgotten before its client's mark or the floor has passed it";
      }
    }
  }
  return undefined;
}
