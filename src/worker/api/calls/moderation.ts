// Calls of moderators: the events of moderation, distinguished by `action` (API-14), and the room's lists: MOD-1, MOD-11.
import * as z from "zod/mini";

import { ACTIONS, AUDIT, MODERATION_STATE } from "../../../protocol/events/moderation.ts";
import { actingAs, STAFF } from "../access.ts";
import { answering, call, done, room, type ApiCall } from "../call.ts";
import { LINK_HEADER, pageAnswers, respondPage } from "../pages.ts";
import { asking, respond } from "../responses.ts";

const NAMES = ACTIONS.map(({ name }) => name);
const [first, ...others] = ACTIONS.map(({ name, schema }) =>
  z.object({ ...schema.shape, action: z.literal(name), room, as: z.optional(actingAs) }),
);

export const MODERATION_CALLS: readonly ApiCall[] = [
  call({
    id: "moderate",
    method: "post",
    path: "/api/rooms/{room}/moderation",
    summary: "Moderate a room",
    description: "`action` is the event of that name, with its fields beside it.",
    roles: STAFF,
    given: z.discriminatedUnion("action", [first!, ...others], { error: `must be one of ${NAMES.join(", ")}` }),
    answers: { 200: { description: "The action is stored, and all members know it", schema: done } },
    run: async ({ caller, given: { as: _as, action, ...payload }, roomRpc }) =>
      respond(await roomRpc(payload.room).ask(action, caller, payload)),
  }),
  call({
    id: "getModeration",
    method: "get",
    path: "/api/rooms/{room}/moderation",
    summary: "Who is banned or muted, and who has which role by grant",
    description: "And whether slow mode and read-only are on. `after` is the last user of the page before.",
    roles: STAFF,
    given: z.object({ ...MODERATION_STATE.schema.shape, room }),
    answers: { 200: { description: "What holds now", schema: answering(MODERATION_STATE.good), headers: LINK_HEADER } },
    run: asking(MODERATION_STATE, (page, url) => respondPage(url, page, { after: page.users.at(-1)?.user })),
  }),
  call({
    id: "listAudit",
    method: "get",
    path: "/api/rooms/{room}/audit",
    summary: "The moderation log",
    description: "The newest of 500, or those before a `number`.",
    roles: STAFF,
    given: z.object({ ...AUDIT.schema.shape, room }),
    answers: pageAnswers(AUDIT.good),
    run: asking(AUDIT, (page, url) => respondPage(url, page, { before: page.entries[0]?.number })),
  }),
];
