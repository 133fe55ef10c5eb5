// The operator page's entry: creates the admin store, draws the page and follows the address. admin.html loads it.
import { render } from "preact";
import { baseOf } from "parley-rooms/client";

import { App } from "./components/app.tsx";
import { watchRoom } from "./live.ts";
import { AdminApi } from "./state/admin-api.ts";
import { AdminStore } from "./state/admin-store.ts";
import { routeOf } from "./state/route.ts";
import { leaveInputMethodsTheirKeys } from "../page/components/keys.ts";
import { giveTextsElements } from "../page/components/texts.ts";
import { Layers } from "../page/layers.ts";
import { keep, keyAt, ofTab, readJson } from "../page/state/json-storage.ts";

/** The list costs one request of the Worker and one of each lobby; no room is woken for it. */
const REFRESH_MS = 15_000;
/** In the storage of the tab alone: it goes with the tab. */
const TOKEN_NAME = "parley.operator-token";

const root = document.getElementById("app")!;
const base = baseOf(new URL(".", document.baseURI).href);
const tokenKey = keyAt(base, TOKEN_NAME);

const store = new AdminStore({
  api: (token) => new AdminApi(base, token, (url, init) => fetch(url, init)),
  watch: (room, token, ports) => watchRoom(base, room, token, ports),
  keepToken: (token) => keep(ofTab, tokenKey, token),
  now: () => Date.now(),
  changed: draw,
});
const layers = new Layers({
  count: () => Number(store.dialog !== undefined),
  closeTo: () => store.ask(undefined),
});
store.route = routeOf(location.hash);

giveTextsElements();
leaveInputMethodsTheirKeys(window);
addEventListener("hashchange", () => store.go(routeOf(location.hash)));
addEventListener("pagehide", () => store.close());
addEventListener("pageshow", ({ persisted }) => persisted && store.go(store.route));
setInterval(() => document.visibilityState === "visible" && void store.refresh(), REFRESH_MS);

const kept = readJson(ofTab, tokenKey);
if (typeof kept === "string") void store.signIn(kept);
else draw();

function draw(): void {
  const { route } = store;
  document.title = route.view === "room" ? `#${route.room} · Operator · Parley` : "Operator · Parley";
  render(<App store={store} />, root);
  layers.follow();
}
