/**
 * Runs a command once per request id (law 5). Both machines answer through it, so that a repeat is
 * judged alike in all groups.
 */

import type { Bytes } from "../../base/bytes.ts";
import type { Revision } from "../../base/brands.ts";
import { Digest } from "./digest.ts";
import type { RequestId, RequestRefusal } from "./request-ids.ts";
import type { RequestMemory } from "./request-memory.ts";

/** An answer, and whether it was given before. */
export interface OnceAnswer<Answer> {
  readonly replayed: boolean;
  /** Revision of the entry that decided it: an earlier one when replayed. */
  readonly revision: Revision;
  readonly result: Answer;
}

/** A request at its entry. */
export interface OnceRequest<Answer> {
  readonly requestId: RequestId | undefined;
  readonly revision: Revision;
  /** The command, encoded: what it will do. */
  readonly effect: () => Bytes;
  readonly run: () => Answer;
  readonly refuse: (reason: RequestRefusal, clientId: string) => Answer;
}

/** Answers from memory or runs it; without an id it just runs. Refusals are answers, too. */
export function answerOnce<Answer>(
  memory: RequestMemory<Answer>,
  request: OnceRequest<Answer>,
): OnceAnswer<Answer> {
  const { requestId, revision } = request;
  if (requestId === undefined) return { replayed: false, revision, result: request.run() };
  const digest = new Digest();
  digest.update(request.effect());
  const fingerprint = digest.number();
  const verdict = memory.judge(requestId, fingerprint, revision);
  switch (verdict.kind) {
    case "repeated":
      return { replayed: true, revision: verdict.revision, result: verdict.answer };
    case "refused": {
      const result = request.refuse(verdict.reason, requestId.clientId);
      return { replayed: false, revision, result };
    }
    case "new": {
      const result = request.run();
      memory.remember(requestId, fingerprint, result, revision);
      return { replayed: false, revision, result };
    }
  }
}
