// A source file as the tidy checks see it: its code without comments and strings, its comments,
// and its imports. A small scanner of our own, because TypeScript 7 offers no stable compiler API
// and the checks only need to know what is code and what is not.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export type ImportLine = {
  /** What stands between the quotes. */
  readonly specifier: string;
  /** The imported file relative to the repository; undefined for a package. */
  readonly target: string | undefined;
  readonly typesOnly: boolean;
  readonly line: number;
};

export type Source = {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked; lines and columns stay the same. */
  readonly code: string;
  readonly comments: readonly { readonly line: number; readonly text: string }[];
  readonly imports: readonly ImportLine[];
};

export function sourceOf(filePath: string, text: string): Source {
  const { code, comments } = scan(text);
  return { path: filePath, text, code, comments, imports: importsOf(filePath, text, code) };
}

/** All files below the given folders or files of the repository that the filter accepts. */
export function readSources(
  root: string,
  tops: readonly string[],
  isWanted: (filePath: string) => boolean,
): Source[] {
  return tops
    .flatMap((top) => filesUnder(root, top))
    .filter(isWanted)
    .map((filePath) => sourceOf(filePath, readFileSync(path.join(root, filePath), "utf8")));
}

export function filesUnder(root: string, top: string): string[] {
  try {
    return readdirSync(path.join(root, top), { withFileTypes: true })
      .flatMap((entry) => {
        const filePath = path.posix.join(top, entry.name);
        return entry.isDirectory() ? filesUnder(root, filePath) : [filePath];
      })
      .sort((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      if (error.code === "ENOENT") return [];
      if (error.code === "ENOTDIR") return [top];
    }
    throw error;
  }
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

// Each alternative swallows one thing whole, so that a quote in a comment opens no string. A
// regular expression literal is told from a division by what stands before it.
const TOKENS = new RegExp(
  [
    String.raw`\/\/[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    String.raw`\x60(?:\\.|[^\x60\\])*\x60`,
    String.raw`(?<=[=(,:[!&|?{};]\s*|return\s+|^\s*)\/(?![/*])` +
      String.raw`(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*`,
  ].join("|"),
  "gm",
);

function scan(text: string): Pick<Source, "code" | "comments"> {
  const comments: { line: number; text: string }[] = [];
  const code = text.replace(TOKENS, (token, offset: number) => {
    if (token.startsWith("//") || token.startsWith("/*")) {
      comments.push({ line: lineAt(text, offset), text: token });
      return blank(token);
    }
    if (token.startsWith("`")) return token.replace(/[^`\n]/g, blankUnlessInserted(token));
    return token.charAt(0) + blank(token.slice(1, -1)) + token.slice(-1);
  });
  return { code, comments };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** Keeps the `${...}` parts of a template, which are code; one level of braces may nest in them. */
function blankUnlessInserted(template: string): (char: string, offset: number) => string {
  const inserted = [...template.matchAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g)].map((match) => ({
    first: match.index,
    end: match.index + match[0].length,
  }));
  return (char, offset) =>
    inserted.some(({ first, end }) => offset >= first && offset < end) ? char : " ";
}

const STATIC_IMPORT = /^[ \t]*(?:import|export)\b([^;"']*?\bfrom\b|)[ \t\n]*"([^"]*)"/gm;
const DYNAMIC_IMPORT = /\b(import)\(\s*"([^"]*)"/g;

function importsOf(filePath: string, text: string, code: string): ImportLine[] {
  return [STATIC_IMPORT, DYNAMIC_IMPORT]
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .filter((match) => isCode(code, match))
    .map((match) => {
      const [, clause = "", specifier = ""] = match;
      return {
        specifier,
        target: specifier.startsWith(".")
          ? path.posix.join(path.posix.dirname(filePath), specifier)
          : undefined,
        typesOnly: isTypesOnly(clause),
        line: lineAt(text, match.index + match[0].length),
      };
    });
}

/** The scanner blanked what is comment or string; an import that is code keeps its first word. */
function isCode(code: string, match: RegExpExecArray): boolean {
  return /^\s*(import|export)\b/.test(code.slice(match.index));
}

function isTypesOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true;
  const names = /^\s*\{([^}]*)\}\s*from$/.exec(clause)?.[1];
  const specifiers = (names ?? "").split(",").filter((name) => name.trim() !== "");
  return specifiers.length > 0 && specifiers.every((name) => /^\s*type\s/.test(name));
}
