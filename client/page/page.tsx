// The chat page: one session in the whole window, and the address that names its room. index.html loads it.
import { render } from "preact";
// In this order what is alike lies together in the bundle, which takes half a kilobyte less to load: libraries, the client,
// what the page knows, what it draws.
import "preact/hooks";
import "preact/jsx-runtime";
import "../core/room.ts";

import { isRoomName } from "../../src/protocol/room-name.ts";
import { bare } from "./state/names.ts";
import { Session } from "./state/session.ts";
import { App } from "./components/app.tsx";
import { keepFilesOut } from "./components/file-drag.ts";

/** Characters of an address that is no room's that are shown. */
const SHOWN_MAX = 40;

const root = document.getElementById("app")!;

const session = new Session({
  origin: location.origin,
  changed: draw,
  entered: (room) => {
    if (room !== undefined && room !== roomOfHash()) history.pushState(null, "", `#${room}`);
    document.title = room === undefined ? "Parley" : `#${room} · Parley`;
  },
});

keepFilesOut();
addEventListener("hashchange", open);
addEventListener("storage", (event) => session.onKept(event));
addEventListener("pagehide", () => session.view?.signals.close());

open();
document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/page-later.css" }));

/** A link to a room opens it at once for a reader whom this browser knows; others give a name first. */
function open(): void {
  const room = roomOfHash();
  if (room === undefined) refuseHash();
  else if (session.view) session.enter(room);
  else if (!session.resume(room)) draw();
}

/** Of an address that names no room the reader hears, and it does not stay beside another one's messages. */
function refuseHash(): void {
  const { view } = session;
  const name = readable(location.hash.slice(1));
  if (name !== "") {
    const problem = `“${name.slice(0, SHOWN_MAX)}${name.length > SHOWN_MAX ? "…" : ""}” is not the name of a room.`;
    if (view) view.show(problem);
    else session.problem = problem;
  }
  if (view) history.replaceState(null, "", `#${view.room}`);
  draw();
}

function draw(): void {
  render(<App session={session} room={roomOfHash()} />, root);
}

/** An address like `/#general` names the room. */
function roomOfHash(): string | undefined {
  const room = location.hash.slice(1);
  return isRoomName(room) ? room : undefined;
}

/** Decodes percent-encoding for display. */
function readable(hash: string): string {
  try {
    return bare(decodeURIComponent(hash));
  } catch {
    return hash;
  }
}
