// Calls of moderators: the events of moderation, distinguished by `action` (API-14), and the room's lists: MOD-1, MOD-11.
import * as z from "zod/mini";

import type { ModerationAction } from "../../../protocol/chat-events.ts";
import {
  ACTION_SCHEMAS,
  auditPageSchema,
  auditSchema,
  moderationPageSchema,
  moderationStateSchema,
} from "../../../protocol/schemas/moderation.ts";
import { actingAs, STAFF } from "../access.ts";
import { answering, call, done, room, type ApiCall } from "../call.ts";
import { LINK_HEADER, pageAnswers, respondPage } from "../pages.ts";
import { asking, respond } from "../responses.ts";

/** The input of one action, distinguished by `action`. */
const action = <Name extends ModerationAction>(name: Name) =>
  z.object({ ...ACTION_SCHEMAS[name].shape, action: z.literal(name), room, as: z.optional(actingAs) });

const ACTIONS = [
  action("kick"),
  action("ban"),
  action("unban"),
  action("mute"),
  action("unmute"),
  action("slow-mode"),
  action("read-only"),
  action("grant"),
  action("revoke"),
] as const;

const NAMES = ACTIONS.map(({ shape }) => shape.action.def.values[0]);

export const MODERATION_CALLS: readonly ApiCall[] = [
  call({
    id: "moderate",
    method: "post",
    path: "/api/rooms/{room}/moderation",
    summary: "Moderate a room",
    description: "`action` is the event of that name, with its fields beside it.",
    roles: STAFF,
    given: z.discriminatedUnion("action", ACTIONS, { error: `must be one of ${NAMES.join(", ")}` }),
    answers: { 200: { description: "Stored, and all members have it", schema: done } },
    run: async ({ caller, given: { as: _as, action, ...payload }, roomRpc }) =>
      respond(await roomRpc(payload.room).ask(action, caller, payload)),
  }),
  call({
    id: "getModeration",
    method: "get",
    path: "/api/rooms/{room}/moderation",
    summary: "Who is banned or muted, and who has which role by grant",
    description: "With slow mode and read-only. `after` is the last user of the page before.",
    roles: STAFF,
    given: z.object({ ...moderationStateSchema.shape, room }),
    answers: { 200: { description: "What holds now", schema: answering(moderationPageSchema), headers: LINK_HEADER } },
    run: asking("moderation-state", (page, url) => respondPage(url, page, { after: page.users.at(-1)?.user })),
  }),
  call({
    id: "listAudit",
    method: "get",
    path: "/api/rooms/{room}/audit",
    summary: "The moderation log",
    description: "The newest of 500, or those before a `number`.",
    roles: STAFF,
    given: z.object({ ...auditSchema.shape, room }),
    answers: pageAnswers(auditPageSchema),
    run: asking("audit", (page, url) => respondPage(url, page, { before: page.entries[0]?.number })),
  }),
];
