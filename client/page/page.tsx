// The chat page: one chat store for the whole window, and the address that names its room. index.html loads it.
import { render } from "preact";
import { baseOf } from "parley-rooms/client";

import { App, type Parts } from "./components/app.tsx";
import { keepFilesOut } from "./components/drop-zone.tsx";
import { isTouched, leaveInputMethodsTheirKeys } from "./components/keys.ts";
import { onDemand } from "./components/on-demand.tsx";
import { giveTextsElements } from "./components/texts.ts";
import { showOnIcon } from "./icon.ts";
import { coversMessages, Layers } from "./layers.ts";
import { addressIn, hashOf, readable, type Address } from "./state/address.ts";
import { ChatStore } from "./state/chat-store.ts";
import { direction, language, startLanguage, t } from "./state/language.ts";
import { prepareTimes } from "./state/times.ts";
import { bare } from "./state/names.ts";
import { takeReturned } from "./state/sign-in.ts";
import { Notifier } from "./state/notifier.ts";

/** Characters shown of an address that names no room. */
const SHOWN_MAX = 40;

const PARTS: Parts = {
  dialogs: onDemand(loadDialogs),
  search: onDemand(loadSearch),
  menu: onDemand(loadMenu),
  members: onDemand(async () => (await import("./components/member-list.tsx")).MemberList),
  mentions: onDemand(async () => (await import("./components/mention-list.tsx")).MentionList),
  threads: onDemand(async () => (await import("./components/thread-panel.tsx")).ThreadList),
  thread: onDemand(async () => (await import("./components/thread-panel.tsx")).ThreadPanel),
  picker: onDemand(async () => (await import("./components/emoji-picker.tsx")).EmojiPicker),
};

// Soon after the reader is there: who loses the connection may sign out, which asks, and who opens the search types at once.
for (const type of ["pointerdown", "keydown"])
  addEventListener(type, () => void Promise.all([loadDialogs(), loadSearch(), loadMenu()]).catch(() => {}), {
    once: true,
  });

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
    if (room === undefined) return;
    // A link to a message leads there once.
    if (addressHere()?.room === room) history.replaceState(history.state, "", `#${room}`);
    layers.go(`#${room}`);
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
root.addEventListener("click", followLink);
addEventListener("storage", (event) => {
  store.onKept(event);
  notifier.onKept(event);
});
document.addEventListener("visibilitychange", () => {
  showNews();
  // A phone may end a page that is out of view without a word.
  if (document.visibilityState === "hidden") store.lastRead.keep(store.view);
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) store.comeBackFromCache();
  showNews();
});
addEventListener("pagehide", () => {
  store.view?.store.flush();
  store.lastRead.keep(store.view);
  notifier.putAside();
});

void start();
// After the page itself: it fetches what a page without a network needs.
addEventListener("load", () => void navigator.serviceWorker?.register("service-worker.js").catch(() => {}));

async function start(): Promise<void> {
  await startLanguage();
  open();
  requestAnimationFrame(() => setTimeout(prepareTimes));
}

async function loadMenu(): Promise<Parts["menu"]> {
  return (await import("./components/popover.tsx")).MenuPopover;
}

async function loadDialogs(): Promise<Parts["dialogs"]> {
  return (await import("./components/page-dialogs.tsx")).PageDialogs;
}

async function loadSearch(): Promise<Parts["search"]> {
  return (await import("./components/page-search.tsx")).PageSearch;
}

/** A link to a room opens it at once for a reader whom this browser knows; others give a name first, or sign in. */
function open(): void {
  const returned = takeReturned();
  if (returned) void store.signedIn(returned).then((isInside) => isInside || openAddressed());
  else openAddressed();
}

function openAddressed(): void {
  // The icon of an installed page names no room, and leads to where the reader was.
  const { isKnown, room = "" } = store.remembered;
  if (!store.view && location.hash === "" && isInstalled() && isKnown)
    history.replaceState(null, "", `#${store.lastRead.room ?? room}`);
  const address = addressHere();
  if (address === undefined) return refuseHash();
  if (store.view) return go(address);
  store.standing.wanted = wantedAt(address);
  if (!store.resume(address.room)) draw();
}

/** Where the reader is in a room. */
function go(address: Address): void {
  const { room } = address;
  const wanted = wantedAt(address);
  if (wanted) store.goTo(room, wanted.place);
  else store.enter(room);
  // The address of a message leads there once.
  if (addressHere()?.message !== undefined) history.replaceState(history.state, "", hashOf({ room }));
}

function wantedAt({ room, message }: Address): ChatStore["standing"]["wanted"] {
  return message === undefined ? undefined : { room, place: message };
}

/** A link to a room or a message of this chat leads there without another page. */
function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
  if (!link || !store.view || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const { origin, pathname, hash } = new URL(link.href);
  const address = origin + pathname === new URL(".", document.baseURI).href ? addressIn(hash) : undefined;
  if (!address) return;
  event.preventDefault();
  // In a thread, which covers the messages of a phone.
  if (coversMessages()) store.open(undefined);
  go(address);
}

/** Chromium makes the page smaller by itself (`interactive-widget` in index.html); Safari lays the keyboard over the page, and moves the page up. */
function stayAboveKeyboard(): void {
  const { visualViewport: seen } = window;
  const { style } = document.documentElement;
  const fit = (): void => {
    // A reader who has zoomed in sees a part of the page.
    if (!seen || seen.scale > 1.01) return void style.removeProperty("--seen");
    style.setProperty("--seen", `${seen.height}px`);
    scrollTo(0, 0);
  };
  seen?.addEventListener("resize", fit);
}

function isInstalled(): boolean {
  return matchMedia("(display-mode: standalone)").matches;
}

/** Tells the reader that the address names no room, and restores the address of the room on the screen. */
function refuseHash(): void {
  const { view } = store;
  const name = bare(readable(location.hash.slice(1)));
  if (name !== "") {
    const shown = `${name.slice(0, SHOWN_MAX)}${name.length > SHOWN_MAX ? "…" : ""}`;
    const problem = t("“{name}” is not the name of a room.", { name: shown });
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
  const { documentElement: html } = document;
  if (html.lang !== language()) Object.assign(html, { lang: language(), dir: direction() });
  render(<App key={language()} store={store} room={addressHere()?.room} parts={PARTS} />, root);
  layers.follow();
}

function addressHere(): Address | undefined {
  return addressIn(location.hash);
}
