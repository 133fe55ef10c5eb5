// Makes the HTTP API's routes of the list of calls, with the same checks in front of each, and 405 for other methods. Called by app.ts.
import { Hono, type Context } from "hono";
import type * as z from "zod/mini";

import type { RoomRpc } from "../../rpc/room.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import type { Identity } from "../../protocol/identity.ts";
import { isRoomName, roomAllowed } from "../../protocol/room-name.ts";
import type { App } from "../deployment.ts";
import { refuseMethod, refuseRoomName } from "../http/refusals.ts";
import { holderOf } from "../http/holder-limit.ts";
import { callerFor, identify, refuseByRoom, refuseRoom, type actingAs } from "./access.ts";
import type { ApiCall } from "./call.ts";
import { readGiven } from "./input.ts";

/** Sorts names before parameters, so that `/relay/dead/replay` does not match `/relay/dead/{id}`. */
const rank = (path: string): string => path.replaceAll(/\{\w+\}/g, "\uffff");

export function apiOf(all: readonly ApiCall[]): Hono<App> {
  const api = new Hono<App>();
  for (const path of [...new Set(all.map((call) => call.path))].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const calls = all.filter((call) => call.path === path);
    for (const call of calls) api.on(call.method.toUpperCase(), honoPath(path), (c) => answer(c, call));
    api.all(honoPath(path), () => refuseMethod(calls.map(({ method }) => method.toUpperCase())));
  }
  return api;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function answer(c: Context<App>, call: ApiCall): Promise<Response> {
  c.set("route", call.id);
  const request = c.req.raw;
  const { deployment } = c.var;
  const roomRpc = (name: string): RoomRpc => deployment.bindings.CHAT_ROOM.getByName(name);
  const identity = await identify(request, call, deployment);
  if (identity instanceof Response) return identity;
  const parameters: Record<string, string> = c.req.param();
  const { room } = parameters;
  if (room !== undefined) {
    if (!isRoomName(room)) return refuseRoomName();
    const refusal = refuseFor(call, identity, room) ?? (await refuseByRoom(identity, call, () => roomRpc(room)));
    if (refusal) return refusal;
  }
  const { settings } = deployment;
  const given = await readGiven(request, call, {
    parameters,
    bodyBytesMax: call.bodyBytesMax ?? settings.maxPayloadBytes,
    begin: () => deployment.bodies.begin(holderOf(request, identity)),
  });
  if (given instanceof Response) return given;
  const caller = callerFor(request, identity, given["as"] as z.output<typeof actingAs> | undefined);
  if (caller instanceof Response) return caller;
  const { bindings: env } = deployment;
  return call.run({ identity, caller, given, url: new URL(request.url), roomRpc, request, env, deployment });
}

function refuseFor({ ofDirectRooms }: ApiCall, identity: Identity, room: string): Response | undefined {
  const isMeant = ofDirectRooms?.includes(identity.role) === true;
  const isOpen = isMeant && isDirectRoom(room) && roomAllowed(identity.rooms, room);
  return isOpen ? undefined : refuseRoom(identity, room);
}
