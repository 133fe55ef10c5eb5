// The HTTP API's addresses: each call of the list, the same checks in front of all of them, and an answer in the same
// form where an address is asked in a way that it does not know.
import { Hono, type Context } from "hono";

import type { RoomDoor } from "../../access/room-door.ts";
import { isRoomName } from "../../protocol/room-name.ts";
import type { App, WorkerEnv } from "../deployment.ts";
import { refuseRequest, refuseRoomName } from "../refusals.ts";
import { identify, refuseByRoom, refuseRoom } from "./access.ts";
import type { ApiCall } from "./call.ts";
import { CALLS } from "./calls.ts";
import { readGiven } from "./input.ts";

export const api = new Hono<App>();

for (const call of CALLS) api.on(call.method.toUpperCase(), honoPath(call.path), (c) => answer(c, call));

for (const path of new Set(CALLS.map((call) => call.path))) {
  const methods = CALLS.filter((call) => call.path === path).map(({ method }) => method.toUpperCase());
  api.all(honoPath(path), () => refuseMethod(methods));
}

/** 405 (API-3). HEAD is answered wherever GET is. */
export function refuseMethod(methods: readonly string[]): Response {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return refuseRequest(405, "METHOD_NOT_ALLOWED", `This address takes ${allowed}`, { Allow: allowed });
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function answer(c: Context<App>, call: ApiCall): Promise<Response> {
  const request = c.req.raw;
  const { deployment } = c.var;
  const doorOf = (name: string): RoomDoor => doorTo(c.env, name);
  const identity = await identify(request, call, deployment);
  if (identity instanceof Response) return identity;
  const parameters: Record<string, string> = c.req.param();
  const { room } = parameters;
  if (room !== undefined) {
    if (!isRoomName(room)) return refuseRoomName();
    const refusal = refuseRoom(identity, room) ?? (await refuseByRoom(identity, call, () => doorOf(room)));
    if (refusal) return refusal;
  }
  const { settings } = deployment;
  const given = await readGiven(request, call, { parameters, bodyBytesMax: settings.maxPayloadBytes });
  if (given instanceof Response) return given;
  return call.run({ identity, given, url: new URL(request.url), doorOf, request, env: c.env, deployment });
}

/** Stubs carry the calls of the object's class, which the Worker knows by this interface only. */
function doorTo({ CHAT_ROOM }: WorkerEnv, room: string): RoomDoor {
  return CHAT_ROOM.getByName(room) as unknown as RoomDoor;
}
