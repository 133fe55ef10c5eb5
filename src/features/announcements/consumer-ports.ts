// Reaches the rooms, directories and objects that the delivery of announcements needs (ANN-5). Called by consumer.ts and by the
// Announcements object.
import { announcementsOf, type Bindings } from "../../rpc/bindings.ts";
import { storeDeadLetters } from "../../rpc/dead-letters.ts";
import { roomsByPrefix, whereabouts } from "../../rpc/lobby.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import { logProblem } from "../../settings/log.ts";
import type { Settings } from "../../settings/settings.ts";
import type { AnnouncePorts } from "./announcing.ts";

/** @param send queues the remaining work */
export function announcePorts(env: Bindings, settings: Settings, send: AnnouncePorts["send"]): AnnouncePorts {
  const { lobbies } = settings;
  return {
    ...roomPorts(env),
    list: roomsByPrefix(env.LOBBY, lobbies),
    find: (users) => whereabouts(env.LOBBY, lobbies, users),
    send,
    note: async (notes, totals) => announcementsOf(env)?.note(notes, totals),
    storeDeadLetters: (dead) => storeDeadLetters(env, dead, settings),
    report: reportProblem,
  };
}

/** Those that reach rooms alone. */
export const roomPorts = (env: Bindings): Pick<AnnouncePorts, "announce" | keyof typeof turnPorts> => ({
  ...turnPorts,
  announce: (room, announcements) => env.CHAT_ROOM.getByName(room).takeAnnounced(announcements),
});

export function reportProblem(error: unknown): void {
  logProblem("announce.problem", "an announcement could not be delivered", error);
}
