// Finds the call of the HTTP API that a request makes, with the same checks in front of each, and 405 for other methods. Called by app.ts.
import type * as z from "zod/mini";

import type { RoomRpc } from "../../rpc/room.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import type { Identity } from "../../protocol/identity.ts";
import { isRoomName, roomAllowed } from "../../protocol/room-name.ts";
import { decoded } from "../connect/base-path.ts";
import { methodOf, type Visit } from "../deployment.ts";
import { refuseRoomName } from "../http/endpoint-refusals.ts";
import { refuseMethod } from "../http/refusals.ts";
import { holderOf } from "../http/under-way.ts";
import { callerFor, identify, refuseByRoom, refuseRoom, type actingAs } from "./access.ts";
import type { ApiCall } from "./call.ts";
import { CALLS } from "./calls.ts";
import { readGiven } from "./input.ts";

/** Sorts names before parameters, so that `/relay/dead/replay` does not match `/relay/dead/{id}`. */
const rank = (path: string): string => path.replaceAll(/\{\w+\}/g, "\uffff");

/** The calls of each path. */
const ROUTES = [...new Set(CALLS.map(({ path }) => path))]
  .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  .map((path) => ({
    form: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    calls: CALLS.filter((call) => call.path === path),
  }));

/** @returns `undefined` where no call has the address */
export async function answerCall(visit: Visit): Promise<Response | undefined> {
  for (const { form, calls } of ROUTES) {
    const match = form.exec(visit.path);
    if (!match) continue;
    const method = methodOf(visit.request).toLowerCase();
    const call = calls.find((call) => call.method === method);
    if (!call) return refuseMethod(calls.map(({ method }) => method.toUpperCase()));
    const parameters = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decoded(text)]);
    return answer(visit, call, Object.fromEntries(parameters) as Record<string, string>);
  }
  return undefined;
}

async function answer(visit: Visit, call: ApiCall, parameters: Readonly<Record<string, string>>): Promise<Response> {
  visit.route = call.id;
  const { request, deployment } = visit;
  const roomRpc = (name: string): RoomRpc => deployment.bindings.CHAT_ROOM.getByName(name);
  const identity = await identify(request, call, deployment);
  if (identity instanceof Response) return identity;
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
  const caller = callerFor(identity, given["as"] as z.output<typeof actingAs> | undefined);
  if (caller instanceof Response) return caller;
  const { bindings: env } = deployment;
  return call.run({ identity, caller, given, url: new URL(request.url), roomRpc, request, env, deployment });
}

function refuseFor({ ofDirectRooms }: ApiCall, identity: Identity, room: string): Response | undefined {
  const isMeant = ofDirectRooms?.includes(identity.role) === true;
  const isOpen = isMeant && isDirectRoom(room) && roomAllowed(identity.rooms, room);
  return isOpen ? undefined : refuseRoom(identity, room);
}
