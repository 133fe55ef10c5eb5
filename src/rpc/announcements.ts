// Reaches the rooms, lobbies and objects that the delivery of announcements needs (ANN-5). Called by the queue's consumer, by the
// Announcements object and by the calls of the API.
import type { AnnouncePorts } from "../relay/announcing.ts";
import { logProblem } from "../settings/log.ts";
import type { Settings } from "../settings/settings.ts";
import type { Bindings } from "./bindings.ts";
import { storeDeadLetters } from "./dead-letters.ts";
import { roomsByPrefix, whereabouts } from "./lobby.ts";
import { ANNOUNCEMENTS_NAME, type AnnouncementsRpc } from "./relay.ts";
import { turnPorts } from "./turn-ports.ts";

/** @returns `undefined` where the deployment does not have the binding */
export function announcementsOf({ ANNOUNCEMENTS }: Bindings): AnnouncementsRpc | undefined {
  return ANNOUNCEMENTS?.getByName(ANNOUNCEMENTS_NAME);
}

/** @param send queues the remaining work */
export function announcePorts(
  env: Bindings,
  { lobbies }: Pick<Settings, "lobbies">,
  send: AnnouncePorts["send"],
): AnnouncePorts {
  return {
    ...turnPorts,
    announce: (room, announcements) => env.CHAT_ROOM.getByName(room).takeAnnounced(announcements),
    list: roomsByPrefix(env.LOBBY, lobbies),
    find: (users) => whereabouts(env.LOBBY, lobbies, users),
    send,
    note: async (notes, totals) => announcementsOf(env)?.note(notes, totals),
    storeDeadLetters: (dead) => storeDeadLetters(env, dead),
    report: reportProblem,
  };
}

export function reportProblem(error: unknown): void {
  logProblem("announce.problem", "an announcement could not be delivered", error);
}
