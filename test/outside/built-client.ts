// The built client, as applications get it, in Node. Called by the tests of the client's module, of files, of direct messages and of big rooms; its
// folder also by npm-commands.test.ts.
import path from "node:path";
import { pathToFileURL } from "node:url";

import type { ConnectOptions, Room } from "../../client/core/api.ts";
import { PROJECT_ROOT } from "./servers.ts";

export const BUILT = path.join(PROJECT_ROOT, "dist", "client");

interface ClientModule {
  readonly connectRoom: (url: string, room: string, options: ConnectOptions) => Room;
  readonly connectDirect: (url: string, user: string, options: ConnectOptions) => Promise<Room>;
}

export const builtClient = async (): Promise<ClientModule> =>
  (await import(pathToFileURL(path.join(BUILT, "client.js")).href)) as ClientModule;
