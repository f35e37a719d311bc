import { expect, test } from "vitest";
import { PreImages } from "../../../src/machine/common/pre-images.ts";

interface Thing {
  value: number;
}

function setUp(): { images: PreImages<Thing, number>; change: (thing: Thing) => void } {
  const images = new PreImages<Thing, number>(({ value }) => value);
  const change = (thing: Thing): void => {
    images.keep(thing);
    thing.value++;
  };
  return { images, change };
}

test("each open map gets what a thing was before its first change since then", () => {
  const { images, change } = setUp();
  const [a, b] = [{ value: 10 }, { value: 20 }];
  change(a);
  const first = images.open();
  change(a);
  const second = images.open();
  change(a);
  change(b);
  expect([...first]).toEqual([
    [a, 11],
    [b, 20],
  ]);
  expect([...second]).toEqual([
    [a, 12],
    [b, 20],
  ]);
});

test("a closed map gets nothing more, and the others go on", () => {
  const { images, change } = setUp();
  const [a, b] = [{ value: 10 }, { value: 20 }];
  const first = images.open();
  const second = images.open();
  change(a);
  images.close(first);
  images.close(first);
  change(b);
  expect([first.size, second.size]).toEqual([1, 2]);
});

test("while no map is open, nothing is pictured", () => {
  let pictured = 0;
  const images = new PreImages<Thing, number>(() => ++pictured);
  images.close(images.open());
  images.keep({ value: 1 });
  expect(pictured).toBe(0);
});
