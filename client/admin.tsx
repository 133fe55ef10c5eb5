// The operator page: one desk in the whole window, and the address that says what is on it. admin.html loads it.
import { render } from "preact";

import { App } from "./admin/components/app.tsx";
import { watchRoom } from "./admin/live.ts";
import { AdminApi } from "./admin/state/admin-api.ts";
import { Desk } from "./admin/state/desk.ts";
import { routeOf } from "./admin/state/route.ts";
import { keep, readKept } from "./page/state/kept.ts";

/** The list costs one request of the Worker and one of each lobby; no room is woken for it. */
const REFRESH_MS = 15_000;
/** In the storage of the tab alone: it goes with the tab. */
const TOKEN_KEY = "parley.operator-token";
const session = (): Storage => sessionStorage;

const root = document.getElementById("app")!;
const { origin } = location;

const desk = new Desk({
  api: (token) => new AdminApi(origin, token, (url, init) => fetch(url, init)),
  watch: (room, token, ports) => watchRoom(origin, room, token, ports),
  keepToken: (token) => keep(session, TOKEN_KEY, token),
  now: () => Date.now(),
  changed: draw,
});
desk.route = routeOf(location.hash);

addEventListener("hashchange", () => desk.go(routeOf(location.hash)));
addEventListener("pagehide", () => desk.close());
addEventListener("pageshow", ({ persisted }) => persisted && desk.watchAgain());
setInterval(() => document.visibilityState === "visible" && void desk.refresh(), REFRESH_MS);

const kept = readKept(session, TOKEN_KEY);
if (typeof kept === "string") void desk.signIn(kept);
else draw();

function draw(): void {
  const { route } = desk;
  document.title = route.view === "room" ? `#${route.room} · Operator · Parley` : "Operator · Parley";
  render(<App desk={desk} />, root);
}
