/**
 * The only place where a range's slot changes. Everybody else sees slots read-only, so that no
 * change can go past the cuts that need to know what it was.
 */

import { PreImages } from "../common/pre-images.ts";
import type { RangeSlot } from "./types.ts";

/** The fields of a slot at one moment. */
export type SlotPicture = Readonly<RangeSlot>;

export type SlotImages = PreImages<RangeSlot, SlotPicture>;

export function slotImages(): SlotImages {
  return new PreImages((slot) => ({ ...slot }));
}

/** Changes the given fields of a slot, and only those. */
export function changeSlot(
  state: { readonly slotImages: SlotImages },
  slot: RangeSlot,
  change: Partial<RangeSlot>,
): void {
  state.slotImages.keep(slot);
  Object.assign(slot, change);
}
