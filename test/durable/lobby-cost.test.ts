// Tests the rows that the list of rooms writes. A file of its own: a busy lobby waits for more reports before it stores, and a
// test would have to wait for that. LOB-2, LOB-7
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { lobbyOf } from "../../src/protocol/room-list.ts";
import { callApi } from "./api-caller.ts";
import { countReports } from "./count-reports.ts";
import { RawClient } from "./raw-client.ts";
import { alarmOf, freshRoom, isAtRest, join, Sleeper, stubOf } from "./rooms.ts";
import { holdAlarms, queriesMade, rowsWritten } from "./rows-written.ts";

const list = async (room: string): Promise<object[]> => (await callApi("GET", `/api/rooms?prefix=${room}`)).body.rooms;

const expectListed = (room: string, rooms: readonly object[]): Promise<void> =>
  vi.waitFor(async () => expect(await list(room)).toMatchObject(rooms));

const post = (room: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });

const evictLobby = (): Promise<void> => evictDurableObject(env.LOBBY.getByName(lobbyOf("any", 1)));

it("keeps the list through a sleep of the lobby", async () => {
  const room = freshRoom();
  await join(room, "ada");
  await expectListed(room, [{ members: 1 }]);
  await evictLobby();
  expect(await list(room)).toMatchObject([{ members: 1 }]);
});

/** As after a long quiet time: the next report is stored at once. */
async function quiet(): Promise<void> {
  await evictLobby();
  await list("x");
}

afterEach(() => void vi.restoreAllMocks());

describe("its cost: LOB-2, LOB-7", () => {
  it("a message after quiet: a request and a row of the lobby; no row and no alarm of the room's", async () => {
    const room = freshRoom();
    await post(room);
    await expectListed(room, [{ lastSeq: 1 }]);
    // The one alarm that a room with messages has: for the day on which it forgets them.
    await isAtRest(room);
    // An hour later its memory is gone.
    await new Sleeper(room).sleep();
    await quiet();
    let [lobbyRows, reports] = [0, 0];
    const rows = await rowsWritten(
      room,
      async () => {
        ({ lobbyRows } = await queriesMade(room, async () => {
          reports = await countReports(async () => {
            await post(room);
            await expectListed(room, [{ lastSeq: 2 }]);
          });
        }));
      },
      freshRoom(),
    );
    expect(rows).toEqual({ rows: 1, alarms: 0 });
    expect({ reports, lobbyRows }).toEqual({ reports: 1, lobbyRows: 1 });
  });

  it("a token that an empty room refuses: a request and a row of the lobby; no row and no alarm of the room's", async () => {
    const room = freshRoom();
    await quiet();
    holdAlarms();
    let [lobbyRows, reports] = [0, 0];
    const rows = await rowsWritten(
      room,
      async () => {
        ({ lobbyRows } = await queriesMade(room, async () => {
          reports = await countReports(async (soFar) => {
            const stranger = await RawClient.open({ room });
            await expect(stranger.connect({ token: "nonsense" })).rejects.toMatchObject({
              data: { code: "UNAUTHORIZED" },
            });
            stranger.close();
            await vi.waitFor(() => expect(soFar()).toBe(1));
          });
        }));
      },
      freshRoom(),
    );
    expect(rows).toEqual({ rows: 0, alarms: 0 });
    expect({ reports, lobbyRows }).toEqual({ reports: 1, lobbyRows: 1 });
    expect(await alarmOf(room)).toBe(null);
  });

  it("an idle room: nothing, however often it is listed and read", async () => {
    const room = freshRoom();
    await join(room, "ada");
    await expectListed(room, [{ members: 1 }]);
    const reports = await countReports(async () => {
      for (let i = 0; i < 5; i++) {
        await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
        await list(room);
        await callApi("GET", `/api/rooms/${room}`);
      }
    });
    expect(reports).toBe(0);
  });
});
