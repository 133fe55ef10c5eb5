// Tests of what `serve` refuses: the error names what is wrong.
import { createServer } from "node:http";

import { Server } from "socket.io";
import { Adapter, ClusterAdapter } from "socket.io-adapter";
import { expect, it } from "vitest";

import { readServeOptions } from "../../src/stock/options.ts";
import { siblings } from "../../src/stock/sibling-adapter.ts";

const GOOD = { Server, options: { connectionStateRecovery: {} }, register: () => {}, own: {} };
const among = siblings(ClusterAdapter, () => []);

it.each<[given: object, problem: string]>([
  [{ Server: "socket.io" }, "Server: must be of the type function, not socket.io"],
  [{ Server: undefined }, "Server: must be of the type function, not undefined"],
  [{ options: undefined }, "options: must be of the type object, not undefined"],
  [{ options: null }, "options: must be of the type object, not null"],
  [{ options: 3000 }, "options: must be of the type object, not 3000"],
  [{ options: () => {} }, "options: must be of the type object, not () => {}"],
  [{ options: createServer() }, "options: must be those of the server, not an HTTP server"],
  [{ register: undefined }, "register: must be of the type function, not undefined"],
  [{ own: null }, "own: must be of the type object, not null"],
  [{ own: true }, "own: must be of the type object, not true"],
  ...["pingInterval", "pingTimeout", "upgradeTimeout", "connectTimeout", "maxHttpBufferSize"].flatMap((name) =>
    [0, 1.5, "1000", Infinity, 2 ** 31].map((value): [object, string] => [
      { options: { [name]: value } },
      `${name}: must be a whole number from 1 to 2147483647, not ${value}`,
    ]),
  ),
  [{ options: { allowEIO3: true } }, "allowEIO3: clients of Socket.IO 2 are not served"],
  [{ options: { transports: ["websocket", "webtransport"] } }, "transports: must list polling, websocket or both"],
  [{ options: { transports: "websocket" } }, "transports: must list"],
  [{ options: { transports: [] } }, "transports: must list"],
  ...[0, -1, 1.5, Infinity, 2 ** 31].map((maxDisconnectionDuration): [object, string] => [
    { options: { connectionStateRecovery: { maxDisconnectionDuration } } },
    "connectionStateRecovery: maxDisconnectionDuration: must be a whole number from 1",
  ]),
  ...["maxConnects", "maxPackets", "maxNamespaces", "maxPartialBytes", "maxUnjoinedPerIp", "maxConnectionsPerIp"].map(
    (name): [object, string] => [{ own: { [name]: -1 } }, `${name}: must be a whole number from 0 to 2147483647`],
  ),
  [{ own: { maxRooms: 1 } }, 'there is no option "maxRooms"; there are maxConnectionsPerIp, '],
  [{ own: { pingInterval: 1000 } }, 'there is no option "pingInterval"'],
  [{ own: { sleep: true }, options: {} }, "sleep: it needs the option connectionStateRecovery"],
  [
    { own: { sleep: true }, options: { connectionStateRecovery: {}, adapter: Adapter } },
    "sleep: it needs the option connectionStateRecovery of the server, and no adapter",
  ],
  [{ own: { sleep: true, siblings: among } }, "sleep: not together with siblings"],
  [{ own: { siblings: ["one", "two"] } }, "siblings: must be what the function `siblings` of this package returns"],
  [{ own: { siblings: among }, options: { adapter: Adapter } }, "siblings: the option adapter is given, too"],
  [{ own: { bundles: true }, options: { parser: {} } }, "bundles: not together with a parser"],
])("serve with %j is refused: %s", (given, problem) => {
  expect(() => readServeOptions({ ...GOOD, ...given })).toThrow(`serve: ${problem}`);
});

it("takes everything else, and fills in the limits of the object", () => {
  const recovery = { maxDisconnectionDuration: 5000 };
  const bounds = { pingInterval: 1, pingTimeout: 2 ** 31 - 1, allowEIO3: false, serveClient: false };
  const options = { ...bounds, connectionStateRecovery: recovery, transports: ["websocket"] };
  const own = { sleep: true, bundles: true, maxPackets: 0 };
  const { engine, limits, windowMs } = readServeOptions({ ...GOOD, options, own });
  expect([engine, windowMs]).toEqual([options, 5000]);
  expect(limits).toEqual({
    maxConnects: 100,
    maxPackets: 0,
    maxNamespaces: 1000,
    maxPartialBytes: 33_554_432,
    maxUnjoinedPerIp: 500,
    maxConnectionsPerIp: 0,
  });
});

it.each<[why: string, options: object, windowMs: number | undefined]>([
  ["nothing asks for it", {}, undefined],
  ["it is off", { connectionStateRecovery: false }, undefined],
  ["an adapter of the application's sees to it", { connectionStateRecovery: {}, adapter: Adapter }, undefined],
  ["no time is given", { connectionStateRecovery: {} }, 120_000],
  ["it is on", { connectionStateRecovery: true }, 120_000],
  ["a time is given", { connectionStateRecovery: { maxDisconnectionDuration: 1 } }, 1],
])("knows how long clients may be away if %s", (_why, options, windowMs) => {
  expect(readServeOptions({ ...GOOD, options }).windowMs).toBe(windowMs);
});
