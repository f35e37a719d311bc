/**
 * What an owner may be called in another system's map: anything that fits one word of a line,
 * before it is renamed to a storage node's id.
 */

import { failed, ok, type Result } from "../base/result.ts";

export const OWNER_NAME_LENGTH_MAX = 255;

/** The name as it is, or what is wrong with it. */
export function checkOwnerName(name: string): Result<string, string> {
  if (name === "") return failed("an owner's name is not empty");
  if (name.length > OWNER_NAME_LENGTH_MAX) {
    return failed(`an owner's name has at most ${OWNER_NAME_LENGTH_MAX} characters`);
  }
  if (/[\p{C}\s]/u.test(name)) return failed("an owner's name has no spaces and no controls");
  return ok(name);
}
