import { afterEach, expect, test } from "vitest";
import { BindError, type Listener, listen } from "../../src/net/listener.ts";
import { closeAll, startServer } from "../integration/net/support.ts";

const listeners: Listener[] = [];

afterEach(async () => {
  await closeAll();
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
});

async function open(address: string): Promise<Listener> {
  const listener = await listen(address, (socket) => socket.destroy());
  listeners.push(listener);
  return listener;
}

async function bindErrorOf(address: string): Promise<BindError> {
  try {
    await open(address);
  } catch (error) {
    if (error instanceof BindError) return error;
    throw error;
  }
  throw new Error(`${address} could be opened`);
}

test("port 0 finds a free port and says which", async () => {
  expect((await open("127.0.0.1:0")).address).toMatch(/^127\.0\.0\.1:[1-9]\d+$/);
});

test("a port in use is named as such, in one line with a remedy", async () => {
  const { address } = await open("127.0.0.1:0");
  const error = await bindErrorOf(address);
  expect(error.code).toBe("addressInUse");
  expect(error.message).toContain(address);
  expect(error.message).toContain("give another port in listen.peer");
  expect(error.message).not.toContain("\n");
});

test("a network on a port in use rejects with the same error and leaves nothing open", async () => {
  const { address } = await open("127.0.0.1:0");
  await expect(startServer({ self: 1, listen: address })).rejects.toMatchObject({
    code: "addressInUse",
  });
});

test.each([
  "",
  "7001",
  "localhost",
  "host:",
  ":7001",
  "1.2.3.4:70000",
  "a:b:1",
  "[::1:7001",
  "x:1x",
])("the address %j is not host:port and is refused with an example", async (address) => {
  const error = await bindErrorOf(address);
  expect(error.code).toBe("badAddress");
  expect(error.message).toContain("10.0.0.1:7001");
});

test("an address of another machine is bad, with the system's reason", async () => {
  const error = await bindErrorOf("192.0.2.1:0");
  expect(error.code).toBe("badAddress");
  expect(error.message).toContain("EADDRNOTAVAIL");
});
