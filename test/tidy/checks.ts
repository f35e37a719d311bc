// The checks of the house style, each a function from sources to findings ("path:line: what"), so
// that tests can show on small bad samples that each of them is able to fail.
import { lineAt, type Source } from "./source.ts";

export type Exemption = { readonly linesMax: number; readonly reason: string };

const SOURCE_LINES_MAX = 400;
const TEST_LINES_MAX = 600;
const COLUMNS_MAX = 100;
const HEADER_LINES_MIN = 2;
const HEADER_LINES_MAX = 12;

/** The only files that may do nothing but re-export. */
const PUBLIC_ENTRY_POINTS = [
  "src/index.ts",
  "src/client/index.ts",
  "src/fence/index.ts",
  "src/testing/index.ts",
];

export function isGenerated(filePath: string): boolean {
  return filePath.includes("/generated/");
}

function isTest(source: Source): boolean {
  return source.path.startsWith("test/");
}

export function checkHeaders(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const lines = source.text.replace(/^#!.*\n/, "").split("\n");
    const count = headerLength(lines);
    if (count >= HEADER_LINES_MIN && count <= HEADER_LINES_MAX) return [];
    return [`${source.path}: starts with a comment of ${count} lines, not 2 to 12`];
  });
}

function headerLength(lines: readonly string[]): number {
  if (lines[0]?.startsWith("/*") === true) return lines.findIndex((l) => l.includes("*/")) + 1;
  const firstOther = lines.findIndex((line) => !line.startsWith("//"));
  return firstOther === -1 ? lines.length : firstOther;
}

export function checkSizes(
  sources: readonly Source[],
  exemptions: Readonly<Record<string, Exemption>>,
): string[] {
  const tooLong = sources.flatMap((source) => {
    const usualMax = isTest(source) ? TEST_LINES_MAX : SOURCE_LINES_MAX;
    const linesMax = exemptions[source.path]?.linesMax ?? usualMax;
    const lines = source.text.trimEnd().split("\n").length;
    if (lines > linesMax) return [`${source.path}: ${lines} lines, at most ${linesMax}`];
    const isNeedless = source.path in exemptions && lines <= usualMax;
    return isNeedless ? [`${source.path}: its size exemption is no longer needed`] : [];
  });
  const known = new Set(sources.map((source) => source.path));
  const stale = Object.keys(exemptions).filter((exempt) => !known.has(exempt));
  return [...tooLong, ...stale.map((exempt) => `${exempt}: exempt, but there is no such file`)];
}

const UNBREAKABLE = [
  /^\s*(test|describe)(\.each\(.*\))?\(/,
  /https?:\/\/\S{40}/,
  /^(import|export) (type )?\{ [\w ]+ \} from "/,
];

/** What cannot be broken may be longer: a test's name, an address, an import of one name. */
export function checkColumns(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    source.text.split("\n").flatMap((line, index) => {
      const columns = Array.from(line).length;
      if (columns <= COLUMNS_MAX) return [];
      if (UNBREAKABLE.some((pattern) => pattern.test(line))) return [];
      return [`${source.path}:${index + 1}: ${columns} columns, at most ${COLUMNS_MAX}`];
    }),
  );
}

export function checkExports(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    if (source.path === "test/vitest.config.ts") return [];
    const defaults = findAll(source, /\bexport\s+default\b|\bas\s+default\b/g, "default export");
    if (PUBLIC_ENTRY_POINTS.includes(source.path)) return defaults;
    const stars = findAll(source, /\bexport\s+(type\s+)?\*/g, "export of everything");
    const isBarrel = source.imports.length > 0 && isOnlyReExports(source.code);
    return [...defaults, ...stars, ...(isBarrel ? [`${source.path}: is a barrel`] : [])];
  });
}

function isOnlyReExports(code: string): boolean {
  const others = code
    .replace(/\b(import|export)\b[^;"]*?\bfrom\s*"[^"]*"(\s*with\s*\{[^}]*\})?;?/g, "")
    .replace(/\bimport\s*"[^"]*";?/g, "")
    .replace(/\bexport\s+(type\s+)?\{[^}]*\};?/g, "");
  return others.trim() === "";
}

// What would make two replicas differ, or let the core touch the world. Comparators are asked for
// because the default order sorts numbers as text.
const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/(?<![.\w])Date\b(?!\s*:)/g, "Date"],
  [/\bMath\.random\b/g, "Math.random"],
  [/(?<![.\w])crypto\b/g, "crypto"],
  [/(?<![.\w])performance\b/g, "performance"],
  [/\b(set|clear)(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/g, "a timer"],
  [/(?<![.\w])process\b(?!\s*[:?(])/g, "process"],
  [/(?<![.\w])Intl\b/g, "Intl"],
  [/\blocaleCompare\b|\btoLocale\w+/g, "the locale"],
  [/\.(sort|toSorted)\(\s*\)/g, "sort without a comparator"],
  [/\bJSON\.stringify\b/g, "JSON.stringify"],
  [/\basync\b|\bawait\b|(?<![.\w])Promise\b/g, "async"],
  [/\bparseFloat\b|\bMath\.(fround|sqrt|pow|log\w*|exp|sin|cos)\b/g, "floats"],
];

export function checkPurity(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path: file }) => /^src\/(raft|machine)\//.test(file))
    .flatMap((source) =>
      IMPURE.flatMap(([pattern, what]) => findAll(source, pattern, `${what} is banned here`)),
    );
}

const LOOSE_END = new RegExp(
  String.raw`\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX"].join("|")})\b`,
);

// Prose may end in a semicolon and start with "if" or "return"; these shapes are code all the same.
const CODE_IN_COMMENT = [
  /^(const|let|var)\s+[\w{[].*=.*;?$/,
  /^(if|for|while|switch) \(.*\) ?(\{|.*;)$/,
  /^(import|export) .*(from ".*";?|\{)$/,
  /^return\b.*[)\w\]"];$/,
  /^(await |void )?[\w.#]+\(.*\);$/,
  /^[\w.#[\]]+ [-+*|&]?= .*;$/,
  /^\}( else.*)?;?$/,
];

export function checkComments(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    source.comments.flatMap((comment) => {
      const at = `${source.path}:${comment.line}`;
      if (LOOSE_END.test(comment.text)) return [`${at}: a loose end; write a decision record`];
      if (!comment.text.startsWith("//")) return [];
      const words = comment.text.slice(2).trim();
      const isCode = CODE_IN_COMMENT.some((pattern) => pattern.test(words));
      return isCode ? [`${at}: commented-out code: ${words}`] : [];
    }),
  );
}

/** `entryPoints` are started or imported from outside src, each with the reason. */
export function checkDeadFiles(
  sources: readonly Source[],
  entryPoints: Readonly<Record<string, string>>,
): string[] {
  const imported = new Set(sources.flatMap((source) => source.imports.map((line) => line.target)));
  return sources
    .filter((source) => !imported.has(source.path) && !(source.path in entryPoints))
    .map((source) => `${source.path}: nothing in src imports it`);
}

/** The numbers of a SPEC and those that its invariants cite must be the same. */
export function checkSpecNumbers(args: {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly spec: string;
  readonly invariants: string;
}): string[] {
  const pattern = new RegExp(String.raw`\b(?:${args.prefixes.join("|")})\d+\b`, "g");
  const specified = new Set(args.spec.match(pattern));
  const cited = new Set(args.invariants.match(pattern));
  if (specified.size === 0) return [`${args.name}: numbers no invariant`];
  return [
    ...[...specified]
      .filter((id) => !cited.has(id))
      .map((id) => `${args.name}: ${id} is checked nowhere`),
    ...[...cited]
      .filter((id) => !specified.has(id))
      .map((id) => `${args.name}: ${id} is cited, not specified`),
  ];
}

export function checkTests(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => [
    ...findAll(
      source,
      /\b(test|describe|suite|it)\.(skip|only|todo|fails|skipIf|runIf)\b|\bx(test|it|describe)\(/g,
      "a test that does not run as written",
    ),
    ...findAll(source, /(?<![.\w])it\(/g, "write test, not it"),
    ...(mayWait(source.path)
      ? []
      : findAll(source, /\bsetTimeout\b|\bsetInterval\b|\bsleep\w*\(/g, "a unit test never waits")),
    ...source.imports
      .filter((line) => line.specifier.includes("timers/promises") && !mayWait(source.path))
      .map((line) => `${source.path}:${line.line}: a unit test never waits`),
  ]);
}

function mayWait(filePath: string): boolean {
  return /^test\/(integration|chaos|bench)\//.test(filePath);
}

// Where and how the work is done is nobody's business who reads the code. Written in pieces, so
// that the words do not find themselves.
const WORKPLACE: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(["registry\\.\\w", "npm" + "js", "artifact" + "ory", "jfr" + "og"].join("|")),
    "a registry",
  ],
  [new RegExp("(^|[\\s\"'(=`])/(" + ["work", "home", "root"].join("|") + ")/"), "a local path"],
];
const WORKPLACE_IN_PROSE: readonly (readonly [RegExp, string])[] = [
  [/\bsession \d+\b/i, "a working session"],
  // Public trackers, which comments may cite, have long numbers; our own have not.
  [/\bissue #?\d{1,3}\b|(^|[\s(])#\d{1,3}\b/i, "an issue number"],
];

/** For a source the prose is its comments; for a document it is the whole. */
export function checkWords(filePath: string, text: string, prose: string): string[] {
  return [
    ...wordsFound(filePath, text, WORKPLACE),
    ...wordsFound(filePath, prose, WORKPLACE_IN_PROSE),
  ];
}

function wordsFound(
  filePath: string,
  text: string,
  words: readonly (readonly [RegExp, string])[],
): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      words.flatMap(([pattern, what]) =>
        pattern.test(line) ? [`${filePath}:${index + 1}: names ${what}`] : [],
      ),
    );
}

/** A lockfile must install from whatever registry its reader uses. */
export function checkLockfile(text: string): string[] {
  return /"resolved": "https?:/.test(text) ? ["package-lock.json: names a registry"] : [];
}

/** Commented lines in their places, everything else empty. */
export function commentsOnly(source: Source): string {
  const lines = source.text.split("\n").map(() => "");
  for (const comment of source.comments) {
    comment.text.split("\n").forEach((text, index) => {
      lines[comment.line - 1 + index] += text;
    });
  }
  return lines.join("\n");
}

function findAll(source: Source, pattern: RegExp, what: string): string[] {
  return [...source.code.matchAll(pattern)].map(
    (match) => `${source.path}:${lineAt(source.code, match.index)}: ${what}`,
  );
}
