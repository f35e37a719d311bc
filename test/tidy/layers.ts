// The dependency direction between the folders of src, read from the table in src/ARCHITECTURE.md
// and held against every import line.
import type { ImportLine, Source } from "./source.ts";

type Allowed = { readonly name: string; readonly typesOnly: boolean };

export type LayerRow = {
  readonly folder: string;
  readonly imports: readonly Allowed[];
  /** "all but": `imports` are then the folders that are not allowed. */
  readonly allBut: boolean;
  readonly packages: readonly Allowed[];
};

/** One row per folder; a line of the table may name several folders. */
export function parseLayerTable(markdown: string): LayerRow[] {
  return markdown
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|\s*(folder\b|-)/.test(line))
    .flatMap((line) => {
      const [folders = "", imports = "", packages = ""] = line.split("|").slice(1);
      const allBut = imports.trim().startsWith("all but ");
      return namesIn(folders).map(({ name }) => ({
        folder: name,
        imports: namesIn(imports.trim().replace(/^all but /, "")),
        allBut,
        packages: namesIn(packages),
      }));
    });
}

function namesIn(cell: string): Allowed[] {
  return cell
    .split(",")
    .map((part) => part.trim())
    .filter((part) => !["", "nothing", "none"].includes(part))
    .map((part) => ({
      name: part.replace(/ \(types\)$/, ""),
      typesOnly: part.endsWith(" (types)"),
    }));
}

export function checkLayers(sources: readonly Source[], rows: readonly LayerRow[]): string[] {
  return sources.flatMap((source) => {
    const row = rowOf(rows, source.path);
    if (row === undefined) return [`${source.path}: its folder has no row in ARCHITECTURE.md`];
    return source.imports.flatMap((line) => {
      const objection =
        line.target === undefined
          ? objectionToPackage(row, line)
          : objectionToFile(row, line, line.target);
      return objection === undefined ? [] : [`${source.path}:${line.line}: ${objection}`];
    });
  });
}

/** The nearest row: `client/grpc` before `client`. */
function rowOf(rows: readonly LayerRow[], filePath: string): LayerRow | undefined {
  const inside = rows.filter((row) => isIn(row.folder, filePath));
  return inside.toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

function isIn(folderOrFile: string, filePath: string): boolean {
  const prefix = `src/${folderOrFile}`;
  return filePath === `${prefix}.ts` || filePath.startsWith(`${prefix}/`);
}

function objectionToFile(row: LayerRow, line: ImportLine, target: string): string | undefined {
  if (!target.startsWith("src/")) return `src imports ${target}, which is outside src`;
  if (!target.endsWith(".ts")) return `the import of ${target} must end in .ts`;
  if (isIn(row.folder, target)) return undefined;
  const listed = row.imports.filter(({ name }) => isIn(name, target));
  if (row.allBut) {
    return listed.length === 0 ? undefined : `${row.folder} may not import ${target}`;
  }
  if (listed.length === 0) return `${row.folder} may not import ${target}`;
  if (line.typesOnly || listed.some(({ typesOnly }) => !typesOnly)) return undefined;
  return `${row.folder} may import only types from ${target}`;
}

function objectionToPackage(row: LayerRow, line: ImportLine): string | undefined {
  const name = packageOf(line.specifier);
  const listed = row.packages.filter((allowed) => allowed.name === name);
  if (listed.length === 0) return `${row.folder} may not use the package ${name}`;
  if (line.typesOnly || listed.some(({ typesOnly }) => !typesOnly)) return undefined;
  return `${row.folder} may use only types of the package ${name}`;
}

export function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return "node";
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}
