// Which known word somebody meant: by the number of letters to insert, delete, change or swap.
// Case and separators do not count, so that data_dir and DATADIR are found to be dataDir.

/** The closest candidate, or undefined when none is close. The first wins a tie. */
export function nearMiss(word: string, candidates: readonly string[]): string | undefined {
  const plainWord = plain(word);
  const distanceMax = Math.max(1, Math.floor(plainWord.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(plainWord, plain(candidate));
    if (distance <= distanceMax && distance < (best?.distance ?? Infinity)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_. ]/g, "");
}

/** Optimal string alignment: edits and swaps of neighbours, row by row. */
function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const changed = from[row - 1] === to[column - 1] ? 0 : 1;
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + changed,
          isSwap ? at(beforeLast, column - 2) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
