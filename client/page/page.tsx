// The chat page: one chat store for the whole window, and the address that names its room. index.html loads it.
import { render } from "preact";
import { baseOf, isRoomName } from "parley-rooms/client";

import { App, type Parts } from "./components/app.tsx";
import { keepFilesOut } from "./components/drop-zone.tsx";
import { isTouched, leaveInputMethodsTheirKeys } from "./components/keys.ts";
import { onDemand } from "./components/on-demand.tsx";
import { giveTextsElements } from "./components/texts.ts";
import { showOnIcon } from "./icon.ts";
import { stayAboveKeyboard } from "./keyboard.ts";
import { Layers } from "./layers.ts";
import { ChatStore } from "./state/chat-store.ts";
import { bare } from "./state/names.ts";
import { takeReturned } from "./state/sign-in.ts";
import { Notifier } from "./state/notifier.ts";

/** Characters shown of an address that names no room. */
const SHOWN_MAX = 40;

const PARTS: Parts = {
  dialogs: onDemand(loadDialogs),
  mentions: onDemand(async () => (await import("./components/mention-list.tsx")).MentionList),
  picker: onDemand(async () => (await import("./components/emoji-picker.tsx")).EmojiPicker),
};

// Soon after the reader is there, who may lose the connection: signing out asks, too.
for (const type of ["pointerdown", "keydown"])
  addEventListener(type, () => void loadDialogs().catch(() => {}), { once: true });

const root = document.getElementById("app")!;

const notifier = new Notifier({
  base: baseOf(new URL(".", document.baseURI).href),
  user: () => store.reader.user,
  changed: () => store.changed(),
  open: (room, seq) => store.goTo(room, seq),
});
const store: ChatStore = new ChatStore({
  base: baseOf(new URL(".", document.baseURI).href),
  changed: draw,
  entered: (room) => {
    if (room !== undefined) layers.go(`#${room}`);
  },
  left: () => layers.go(location.pathname + location.search),
  notifier,
  changedUnseen: showNews,
});
const layers = new Layers({ count: () => store.layers, closeTo: (count) => store.closeTo(count) });

keepFilesOut();
if (isTouched()) stayAboveKeyboard();
giveTextsElements();
leaveInputMethodsTheirKeys(window);
addEventListener("hashchange", open);
addEventListener("storage", (event) => {
  store.onKept(event);
  notifier.onKept(event);
});
document.addEventListener("visibilitychange", showNews);
addEventListener("pageshow", showNews);
addEventListener("pagehide", () => {
  store.view?.store.flush();
  notifier.putAside();
});

open();

async function loadDialogs(): Promise<Parts["dialogs"]> {
  return (await import("./components/page-dialogs.tsx")).PageDialogs;
}

/** A link to a room opens it at once for a reader whom this browser knows; others give a name first, or sign in. */
function open(): void {
  const returned = takeReturned();
  if (returned) void store.signedIn(returned).then((isInside) => isInside || openAddressed());
  else openAddressed();
}

function openAddressed(): void {
  const room = roomOfHash();
  if (room === undefined) refuseHash();
  else if (store.view) store.enter(room);
  else if (!store.resume(room)) draw();
}

/** Tells the reader that the address names no room, and restores the address of the room on the screen. */
function refuseHash(): void {
  const { view } = store;
  const name = readable(location.hash.slice(1));
  if (name !== "") {
    const problem = `“${name.slice(0, SHOWN_MAX)}${name.length > SHOWN_MAX ? "…" : ""}” is not the name of a room.`;
    if (view) view.show(problem);
    else store.problem = problem;
  }
  if (view) history.replaceState(null, "", `#${view.room}`);
  draw();
}

/** In the title, on the icon, and for the other tabs of this browser: what is new, and where the reader looks. */
function showNews(): void {
  document.title = store.windowTitle;
  void showOnIcon(store.newsCount);
  notifier.look(document.visibilityState === "visible" ? store.view?.room : undefined);
}

function draw(): void {
  showNews();
  render(<App store={store} room={roomOfHash()} parts={PARTS} />, root);
  layers.follow();
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
