// What the launcher itself says: words for people, or with `--log json` records of the same form
// as the servers' log lines, so that a reader of the output can parse every line.
import type { TextSink } from "../context.ts";

export interface Voice {
  /** One line, or several for people that belong together. */
  say(event: string, words: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A line of a server, as it is. */
  pass(line: string): void;
}

export function createVoice(sink: TextSink, format: "json" | "pretty"): Voice {
  const pass = (line: string): void => sink.write(`${line}\n`);
  if (format === "pretty") return { say: (_event, words) => pass(`cadastre: ${words}`), pass };
  return {
    say: (event, words, fields) => {
      const time = new Date().toISOString();
      pass(JSON.stringify({ level: "info", time, server: "dev", event, msg: words, ...fields }));
    },
    pass,
  };
}
