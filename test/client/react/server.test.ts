// Tests the hooks on a server: they draw the first state, and connect nothing.
import { createElement, type FunctionComponent } from "react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";

import * as hooks from "../../../client/react/hooks.ts";
import { ParleyProvider, RoomProvider, useRoom } from "../../../client/react/providers.ts";
import { useRoomState } from "../../../client/react/use-part.ts";
import { useRooms } from "../../../client/react/use-rooms.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();

const Everything: FunctionComponent = () => {
  const { messages, isLoaded, hasEarlier } = hooks.useMessages();
  const { count, members } = hooks.usePresence();
  const first = {
    connection: hooks.useConnection(),
    messages: [messages, isLoaded, hasEarlier],
    presence: [count, members],
    typing: hooks.useTyping().typists,
    unread: hooks.useUnread().count,
    following: hooks.useReading().following,
    readers: hooks.useReaders().size,
    name: hooks.useName("ada"),
    me: hooks.useMe().user,
    blocked: hooks.useSend().blocked ?? null,
    uploads: hooks.useUploads().uploads,
    modes: hooks.useModeration().modes,
    quoted: hooks.useQuoted("1") ?? null,
    card: hooks.useLinkCard("https://news.example.org/") ?? null,
    problem: hooks.useProblem().problem ?? null,
    own: useRoomState(({ reading }) => reading.lastSeq),
    room: typeof useRoom().send,
    rooms: useRooms().rooms ?? null,
  };
  hooks.useRoomEvent("chat-message", () => {});
  return createElement("pre", undefined, JSON.stringify(first));
};

it("each hook draws the first state", async () => {
  const page = createElement(
    ParleyProvider,
    { url: "http://chat.example", token: () => Promise.reject(new Error("not on a server")) },
    createElement(RoomProvider, { room: "plaza" }, createElement(Everything)),
  );
  const text = renderToString(page).replaceAll("&quot;", '"');
  expect(JSON.parse(/<pre>(.*)<\/pre>/.exec(text)![1]!)).toEqual({
    connection: { state: "connecting" },
    messages: [[], false, false],
    presence: [0, []],
    typing: [],
    unread: 0,
    following: true,
    readers: 0,
    name: "ada",
    me: "",
    blocked: null,
    uploads: [],
    modes: { slowModeSeconds: 0, readOnly: false },
    quoted: null,
    card: null,
    problem: null,
    own: 0,
    rooms: null,
    room: "function",
  });
  await world.pass(5000);
  expect(world.lines).toEqual([]);
});
