// The call that sends an event to a feature which the room's class adds to those of the chat: OWN-9.
import * as z from "zod/mini";

import { described } from "../../../protocol/schemas/described.ts";
import { actingAs, STAFF } from "../access.ts";
import { call, room, type ApiCall } from "../call.ts";
import { respond } from "../responses.ts";

export const CUSTOM_CALLS: readonly ApiCall[] = [
  call({
    id: "sendEvent",
    method: "post",
    path: "/api/rooms/{room}/events/{event}",
    summary: "Send an event to a feature of the room's own class",
    description: "Events of the chat itself have calls of their own.",
    roles: STAFF,
    given: z.object({
      room,
      event: z.string().check(z.maxLength(64)).apply(described, "Its name"),
      payload: z.optional(z.unknown()).apply(described, "As a client sends it"),
      as: z.optional(actingAs),
    }),
    answers: {
      200: { description: "The event's answer", schema: z.looseObject({ ok: z.literal(true) }) },
    },
    refusals: ["REJECTED"],
    run: async ({ caller, given: { event, payload, ...given }, roomRpc }) =>
      respond(await roomRpc(given.room).askOwn(event, caller, payload)),
  }),
];
