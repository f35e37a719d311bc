// Which seeds a simulation runs: SIM_SEED is one, SIM_SEEDS=N or FROM-TO several, neither the
// simulation's own number of them from 1 on.

export function seedsToRun(usualCount: number): readonly number[] {
  const one = process.env["SIM_SEED"];
  if (one !== undefined) return [Number(one)];
  const [first, last] = (process.env["SIM_SEEDS"] ?? `${usualCount}`).split("-").map(Number);
  const from = last === undefined ? 1 : (first ?? 1);
  const to = last ?? first ?? usualCount;
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
