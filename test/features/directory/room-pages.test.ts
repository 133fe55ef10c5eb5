// The rooms that a user reads, found by the pages of a lobby: LOB-9
import { expect, it } from "vitest";

import { RoomPages } from "../../../src/features/directory/room-pages.ts";
import { packUnread, readerMark, unreadBy } from "../../../src/protocol/unread.ts";
import { ENTRIES_PER_PAGE } from "../../../src/storage/paged-map.ts";
import { fc, runs } from "../../host/properties.ts";

const ROOMS = 3 * ENTRIES_PER_PAGE;
const USERS = Array.from({ length: 12 }, (_, number) => readerMark(`user-${number}`));

const change = fc.record({
  room: fc.nat(ROOMS),
  readers: fc.option(fc.subarray(USERS, { maxLength: 4 }), { freq: 4 }),
});

it("are all that name the user, after any changes since somebody looked", () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 600 }), { maxLength: 4 }), (rounds) => {
      const pages = new RoomPages({ read: () => [], write() {} });
      const set = (room: number, readers: readonly string[]): void =>
        pages.set({
          room: `room-${room}`,
          members: 0,
          lastSeq: 1,
          lastActivity: 1,
          believedUntilMs: 0,
          unread: packUnread(readers.map((mark) => [mark, 1])),
        });
      for (let room = 0; room < ROOMS; room++) set(room, [USERS[room % 7]!]);
      for (const changes of rounds) {
        for (const { room, readers } of changes)
          if (readers) set(room, readers);
          else pages.delete(`room-${room}`);
        for (const mark of USERS) {
          const named = Array.from(pages.all()).filter(({ unread = "" }) => unreadBy(unread, mark) !== undefined);
          expect(pages.readBy(mark)).toEqual(named.map(({ room }) => room));
        }
      }
    }),
    runs(20),
  );
});
