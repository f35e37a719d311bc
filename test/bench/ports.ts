/** Runs of free loopback ports, outside the range that outgoing connections are given. */

import { createServer } from "node:net";

const FIRST_PORT = 20_000;
const LAST_PORT = 31_900;
const ATTEMPTS = 100;

/** A base such that it and every port at these offsets from it is free now. */
export async function freeBasePort(offsets: readonly number[]): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new Error(`no free ports found between ${FIRST_PORT} and ${LAST_PORT}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
