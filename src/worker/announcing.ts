// What announcements need of the deployment, for whoever brings them to their rooms (ANN-5).
import type { AnnouncementsRpc } from "../rpc/relay.ts";
import { ANNOUNCEMENTS_NAME } from "../rpc/relay.ts";
import { roomsByPrefix, whereabouts } from "../rpc/lobby.ts";
import { turnPorts } from "../rpc/turn-ports.ts";
import { writeLog } from "../settings/log.ts";
import type { Settings } from "../settings/settings.ts";
import type { AnnounceItem } from "../protocol/announcement.ts";
import { bytesOf } from "../relay/announce-packing.ts";
import type { AnnouncePorts } from "../relay/announcing.ts";
import { describeBatch } from "../relay/readable-batch.ts";
import type { Bindings } from "../rpc/bindings.ts";
import { deadLettersOf } from "./relay-delivery.ts";

/** What the platform takes in one go: messages, and bytes of all of them (256 KB). */
const SEND_MESSAGES_MAX = 100;
const SEND_BYTES_MAX = 240_000;

export function announcePorts(env: Bindings, { lobbies }: Settings): AnnouncePorts {
  return {
    ...turnPorts,
    announce: (room, announcements) => env.CHAT_ROOM.getByName(room).takeAnnounced(announcements),
    list: roomsByPrefix(env.LOBBY, lobbies),
    find: (users) => whereabouts(env.LOBBY, lobbies, users),
    send: (items, delaySeconds) => enqueue(env, items, delaySeconds),
    note: (notes, totals) => announcementsOf(env)!.note(notes, totals),
    bury: async (dead) => {
      await deadLettersOf(env)!.bury(dead);
      for (const { batch, reason } of dead) writeLog("warn", "relay.dead", { reason, ...describeBatch(batch) });
    },
  };
}

/** @throws where the queue does not take them */
export async function enqueue(
  { RELAY_QUEUE }: Bindings,
  items: readonly AnnounceItem[],
  delaySeconds: number,
): Promise<void> {
  for (let rest = items; rest.length > 0;) {
    const some = asManyAsFit(rest);
    await RELAY_QUEUE!.sendBatch(
      some.map((body) => ({ body })),
      { delaySeconds },
    );
    rest = rest.slice(some.length);
  }
}

function asManyAsFit(items: readonly AnnounceItem[]): readonly AnnounceItem[] {
  let bytes = 0;
  const end = items.findIndex((item, i) => {
    bytes += bytesOf(item);
    return i > 0 && (i === SEND_MESSAGES_MAX || bytes > SEND_BYTES_MAX);
  });
  return end === -1 ? items : items.slice(0, end);
}

/** @returns `undefined` where the deployment has no place for them */
export function announcementsOf({ ANNOUNCEMENTS }: Bindings): AnnouncementsRpc | undefined {
  return ANNOUNCEMENTS?.getByName(ANNOUNCEMENTS_NAME);
}
