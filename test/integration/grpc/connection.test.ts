import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { ok } from "../../../src/base/result.ts";
import { SAMPLES } from "../../wire/arbitraries.ts";
import {
  COMMIT_IMPORT,
  LOOKUP,
  onCleanup,
  openChannel,
  sample,
  startHarness,
  until,
  WATCH,
} from "./harness.ts";

const answer = sample(SAMPLES.directory.lookup.answer);
const commit = sample(SAMPLES.keyspaces.commitImport.answer);
const NOT_SENT = { ok: false, error: { reason: "TRANSIENT" } };

interface Trap {
  readonly address: string;
  readonly sockets: Socket[];
  readonly server: Server;
}

/** A plain TCP listener that does with each connection what the test says. */
async function trap(onConnection: (socket: Socket, number: number) => void): Promise<Trap> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
    onConnection(socket, sockets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onCleanup(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, server };
}

function relay(socket: Socket, address: string): void {
  const [host = "", port = ""] = address.split(":");
  const upstream = connect(Number(port), host);
  upstream.on("error", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
  upstream.on("close", () => socket.destroy());
  socket.pipe(upstream).pipe(socket);
}

/** An address at which nobody listens. */
async function deadAddress(): Promise<string> {
  const { server, address } = await trap(() => {});
  await new Promise((resolve) => server.close(resolve));
  return address;
}

test("a refused connection: nothing was sent, so a mutation certainly did not happen", async () => {
  const { keyspaces } = openChannel(await deadAddress()).services;
  const context = { timeoutMs: 2_000 };
  expect(await keyspaces.commitImport(COMMIT_IMPORT, context)).toMatchObject(NOT_SENT);
});

test("an address that cannot be dialled makes a channel all the same, and its calls are not sent", async () => {
  for (const address of ["", "nosuchhost.invalid:1", "127.0.0.1:99999", "::::", "dns://"]) {
    const { keyspaces } = openChannel(address).services;
    const context = { timeoutMs: 2_000 };
    expect(await keyspaces.commitImport(COMMIT_IMPORT, context), address).toMatchObject(NOT_SENT);
  }
});

test("a listener that accepts and never speaks: calls end by the watchdog as not sent, and the next connection works", async () => {
  const { server } = await startHarness({ keyspaces: { commitImport: async () => ok(commit) } });
  const hole = await trap((socket, number) => {
    if (number > 1) relay(socket, server.address);
  });
  const { keyspaces, directory } = openChannel(hole.address, { connectTimeoutMs: 200 }).services;
  const startMs = Date.now();
  const [call, watch] = await Promise.all([
    keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 10_000 }),
    directory.watch(WATCH, {})[Symbol.asyncIterator]().next(),
  ]);
  expect(call).toMatchObject(NOT_SENT);
  expect(watch.value).toMatchObject(NOT_SENT);
  expect(Date.now() - startMs).toBeLessThan(2_000);
  expect(await keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 5_000 })).toEqual(ok(commit));
  expect(hole.sockets).toHaveLength(2);
});

test("a connection that hangs after others were refused is given up as well", async () => {
  const { server } = await startHarness({ directory: { lookup: async () => ok(answer) } });
  const address = await deadAddress();
  const { directory } = openChannel(address, { connectTimeoutMs: 200 }).services;
  expect(await directory.lookup(LOOKUP, { timeoutMs: 1_000 })).toMatchObject(NOT_SENT);
  const held: Socket[] = [];
  const hole = createServer((socket) => {
    socket.on("error", () => {});
    held.push(socket);
    if (held.length > 1) relay(socket, server.address);
  });
  const [host, port] = address.split(":");
  await new Promise<void>((resolve) => hole.listen(Number(port), host, resolve));
  onCleanup(() => {
    for (const socket of held) socket.destroy();
    hole.close();
  });
  const endMs = Date.now() + 5_000;
  let last = await directory.lookup(LOOKUP, { timeoutMs: 300 });
  while (!last.ok && Date.now() < endMs) last = await directory.lookup(LOOKUP, { timeoutMs: 300 });
  expect(last).toEqual(ok(answer));
});

test("every channel has a connection of its own, also to the same address", async () => {
  const { server } = await startHarness({ directory: { lookup: async () => ok(answer) } });
  const path = await trap((socket) => relay(socket, server.address));
  for (const { services } of [openChannel(path.address), openChannel(path.address)]) {
    for (let call = 0; call < 2; call++) {
      expect(await services.directory.lookup(LOOKUP, { timeoutMs: 2_000 })).toEqual(ok(answer));
    }
  }
  expect(path.sockets).toHaveLength(2);
});

test("a deadline that passes before the connection stands: not sent", async () => {
  const hole = await trap(() => {});
  const { keyspaces } = openChannel(hole.address).services;
  const call = await keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 100 });
  expect(call).toMatchObject(NOT_SENT);
});

test("a connection that is lost during a call: a mutation's outcome is unknown, and the next call connects anew", async () => {
  let calls = 0;
  const { server } = await startHarness({
    keyspaces: {
      commitImport: () => {
        calls++;
        return calls === 1 ? new Promise(() => {}) : Promise.resolve(ok(commit));
      },
    },
  });
  const path = await trap((socket) => relay(socket, server.address));
  const { keyspaces } = openChannel(path.address).services;
  const call = keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 5_000 });
  await until(() => calls === 1);
  for (const socket of path.sockets) socket.destroy();
  expect(await call).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  let next = await keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 5_000 });
  while (!next.ok) next = await keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 5_000 });
  expect(next).toEqual(ok(commit));
});

test("closing the channel ends its calls as if the connection were lost, and later ones are not sent", async () => {
  let calls = 0;
  const { channel } = await startHarness({
    keyspaces: {
      commitImport: () => {
        calls++;
        return new Promise(() => {});
      },
    },
  });
  const own = channel();
  const call = own.services.keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 60_000 });
  await until(() => calls === 1);
  own.close();
  expect(await call).toMatchObject({ ok: false, error: { reason: "UNCERTAIN" } });
  const late = own.services.keyspaces.commitImport(COMMIT_IMPORT, { timeoutMs: 60_000 });
  expect(await late).toMatchObject(NOT_SENT);
});

test("a proxy in the environment is not used", async () => {
  const { server } = await startHarness({ directory: { lookup: async () => ok(answer) } });
  const proxy = await trap((socket) => socket.destroy());
  const names = ["http_proxy", "https_proxy", "grpc_proxy"];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = `http://${proxy.address}`;
  onCleanup(() => {
    for (const [at, name] of names.entries()) {
      if (before[at] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[at];
    }
  });
  const { directory } = openChannel(server.address).services;
  expect(await directory.lookup(LOOKUP, { timeoutMs: 2_000 })).toEqual(ok(answer));
  expect(proxy.sockets).toHaveLength(0);
});
