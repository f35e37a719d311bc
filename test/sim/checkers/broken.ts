import { expect } from "vitest";
import { BrokenProperty } from "../must.ts";

/** The property that is broken by this. */
export function broken(act: () => void): number {
  try {
    act();
  } catch (error) {
    if (error instanceof BrokenProperty) return error.property;
    throw error;
  }
  return expect.fail("nothing was broken");
}
