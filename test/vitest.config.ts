// How the tests run. Unit tests go in parallel on two workers. Files under test/integration start
// processes and open ports, so they run afterwards, one at a time, with limits for real disks.
// `npm test` adds a JSON report and counts from it; a run without tests fails.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const INTEGRATION = "test/integration/**/*.test.ts";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    maxWorkers: 2,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [INTEGRATION],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "integration",
          include: [INTEGRATION],
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
