// The chat page: one session in the whole window, and the address that names its room. index.html loads it.
import { render } from "preact";
// In this order what is alike lies together in the bundle, which takes half a kilobyte less to load: libraries, the client,
// what the page knows, what it draws.
import "preact/hooks";
import "preact/jsx-runtime";
import "./room.ts";

import { isRoomName } from "../src/protocol/room-name.ts";
import { Session } from "./page/state/session.ts";
import { App } from "./page/components/app.tsx";

const root = document.getElementById("app")!;

const session = new Session({
  origin: location.origin,
  changed: draw,
  entered: (room) => {
    if (room !== undefined && room !== roomOfHash()) history.pushState(null, "", `#${room}`);
    document.title = room === undefined ? "Parley" : `#${room} · Parley`;
  },
});

addEventListener("hashchange", open);
addEventListener("storage", (event) => session.onKept(event));
addEventListener("pagehide", () => session.visit?.signals.close());

open();

/** A link to a room opens it at once for a reader who is known here; others give a name first. */
function open(): void {
  const room = roomOfHash();
  if (room === undefined) draw();
  else if (session.visit) session.enter(room);
  else if (!session.resume(room)) draw();
}

function draw(): void {
  render(<App session={session} room={roomOfHash()} />, root);
}

/** An address like `/#general` names the room. */
function roomOfHash(): string | undefined {
  const room = location.hash.slice(1);
  return isRoomName(room) ? room : undefined;
}
