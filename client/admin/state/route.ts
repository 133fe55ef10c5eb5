// Parses and builds the page's address: `#room/general`, `#reports`, `#files`, `#dead-letters`, or the list of rooms. A token is never in it.
import { isRoomName } from "parley-rooms/client";

export type Route =
  | { readonly view: "rooms" }
  | { readonly view: "room"; readonly room: string }
  | { readonly view: "reports" | "files" | "dead-letters" };

export function routeOf(hash: string): Route {
  const [view, room = ""] = hash.replace(/^#/, "").split("/", 2);
  if (view === "room" && isRoomName(room)) return { view, room };
  return view === "reports" || view === "files" || view === "dead-letters" ? { view } : { view: "rooms" };
}

export const hashOf = (route: Route): string =>
  route.view === "room" ? `#room/${route.room}` : route.view === "rooms" ? "#" : `#${route.view}`;
