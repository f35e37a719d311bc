import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ScenarioRunner } from "./scenario-runner.ts";

const folder = new URL("../scenarios/", import.meta.url);

/** The script with the trace that really came: equal to the script when all is as expected. */
function rerun(script: string): string {
  const runner = new ScenarioRunner();
  const lines: string[] = [];
  for (const line of script.split("\n")) {
    const isCommand = line.startsWith("> ") || line.startsWith("- ");
    if (line === "" || line.startsWith("#") || isCommand) lines.push(line);
    if (!isCommand) continue;
    const trace = runner.run(line.slice(2).trim());
    if (line.startsWith("> ")) lines.push(...(trace.length === 0 ? ["(nothing)"] : trace));
  }
  return lines.join("\n");
}

for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
  const script = readFileSync(new URL(name, folder), "utf8");
  const title = script.split("\n")[0]?.replace(/^# /, "") ?? "";
  test(`${name}: ${title}`, () => {
    expect(rerun(script)).toBe(script);
  });
}
