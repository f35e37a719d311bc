/** The SnapshotStore port on real files. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { NodeFileStore } from "../../src/storage/node-files.ts";
import { SnapshotFiles } from "../../src/storage/snapshot-files.ts";
import { snapshotStoreConformance } from "../conformance/snapshot-store.ts";
import { withTempDir } from "./level-harness.ts";

function storeIn(dir: string): SnapshotFiles {
  return new SnapshotFiles({ files: new NodeFileStore(dir), dir, clusterId: "c1" });
}

snapshotStoreConformance((run) =>
  withTempDir(async (dir) => {
    const own = join(dir, "own");
    const other = join(dir, "other");
    for (const each of [own, other]) await mkdir(each);
    await run({ store: storeIn(own), other: storeIn(other), reopen: () => storeIn(own) });
  }),
);
