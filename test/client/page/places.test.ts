// Finds rooms and people by a part of their names (Ctrl K).
import { expect, it } from "vitest";

import { placesFor } from "../../../client/page/state/places.ts";
import type { RoomItem } from "../../../client/page/state/room-items.ts";

const item = (room: string, more: Partial<RoomItem> = {}): RoomItem => ({
  room,
  section: "yours",
  unread: 0,
  mentions: 0,
  isMuted: false,
  ...more,
});
const items = [
  item("general"),
  item("coffee", { name: "Zoë's Café" }),
  item("design-review", { unread: 3 }),
  item("ops", { unread: 9, mentions: 1 }),
  item("dm~x", { section: "direct", direct: { user: "ben", name: "Ben Ito" } }),
  item("regents", { section: "discover" }),
];
const people = [
  { user: "ben", name: "Ben Ito" },
  { user: "greta", name: "Greta" },
];
const found = (typed: string): string[] =>
  placesFor(typed, { items, people, entered: ["dm~x", "coffee", "general"], current: "general" }).map((place) =>
    place.kind === "room" ? place.item.room : place.person.name,
  );

it("until something is typed: what speaks to the reader, what is unread, and where they were last; not where they are", () => {
  expect(found(" ")).toEqual(["ops", "design-review", "coffee", "dm~x", "regents"]);
});

it("finds by name and id, without accents and capitals: beginnings, words, parts, and letters in their order", () => {
  expect(found("ge")).toEqual(["general", "regents", "design-review", "Greta"]);
  expect(found("re")).toEqual(["regents", "design-review", "Greta"]);
  expect(found("cafe")).toEqual(["coffee"]);
  expect(found("#coff")).toEqual(["coffee"]);
  expect(found("dsrv")).toEqual(["design-review"]);
  expect(found("ito")).toEqual(["dm~x"]);
  expect(found("@gret")).toEqual(["Greta"]);
  expect(found("design rev")).toEqual(["design-review"]);
  expect(found("xyz")).toEqual([]);
});
