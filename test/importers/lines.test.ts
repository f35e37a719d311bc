import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf, wholeText } from "../../src/importers/lines.ts";

test("lines are numbered from 1 and lose their ends, a byte order mark and carriage returns", () => {
  expect([...linesOf("\ufeffa\r\n\nb\rc\n\ufeffd")]).toEqual([
    { number: 1, text: "a", isEnded: true },
    { number: 2, text: "", isEnded: true },
    { number: 3, text: "b\rc", isEnded: true },
    { number: 4, text: "\ufeffd", isEnded: false },
  ]);
  expect([...linesOf("")]).toEqual([]);
  expect([...linesOf("\n")]).toEqual([{ number: 1, text: "", isEnded: true }]);
});

test("chunks may be cut anywhere", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "\r", "\n", "é", "\ufeff"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(piece), (chunks) => {
      const text = chunks.join("");
      expect([...linesOf(chunks)]).toEqual([...linesOf(text)]);
      expect(wholeText(chunks)).toBe(wholeText(text));
    }),
  );
});
