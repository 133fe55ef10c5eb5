// The whole operator page: the token first, then the rooms, one room, reports, files, or dead letters. admin.tsx draws it.
import { claimsOf } from "parley-rooms/client";

import { themeItems } from "../../page/components/theme.ts";
import { Button, IconButton } from "../../page/components/controls.tsx";
import type { AdminStore } from "../state/admin-store.ts";
import { hashOf, type Route } from "../state/route.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { ConfirmDialogs } from "./confirm-dialogs.tsx";
import { FilesPage } from "./files.tsx";
import { ReportsPage } from "./reports.tsx";
import { RoomPage } from "./room-page.tsx";
import { RoomsPage } from "./rooms-page.tsx";
import { SignIn } from "./sign-in.tsx";

export function App({ store }: { readonly store: AdminStore }) {
  if (store.token === undefined) return <SignIn store={store} />;
  const { route } = store;
  return (
    <div class="operator">
      <Header store={store} />
      <main>
        {route.view === "rooms" && <RoomsPage store={store} />}
        {route.view === "room" && <RoomPage key={route.room} store={store} room={route.room} />}
        {route.view === "reports" && <ReportsPage store={store} />}
        {route.view === "files" && <FilesPage store={store} />}
        {route.view === "dead-letters" && <DeadLetters store={store} />}
      </main>
      <div class="said" role="status" data-testid="said">
        {store.said && (
          <p class={store.said.isBad ? "bad" : "good"}>
            <span>{store.said.text}</span>
            <IconButton icon="close" label="Dismiss" onClick={() => store.quiet()} />
          </p>
        )}
      </div>
      <ConfirmDialogs store={store} />
    </div>
  );
}

function Header({ store }: { readonly store: AdminStore }) {
  const claims = claimsOf(store.token ?? "");
  const themes = themeItems(document.documentElement);
  return (
    <header class="bar">
      <a class="brand" href="#">
        <img src="favicon.svg" alt="" width="24" height="24" /> Parley <span class="muted">operator</span>
      </a>
      <nav aria-label="Views">
        <Tab store={store} to={{ view: "rooms" }} label="Rooms" />
        <Tab store={store} to={{ view: "reports" }} label="Reports" />
        {store.isService && <Tab store={store} to={{ view: "files" }} label="Files" />}
        {store.isService && <Tab store={store} to={{ view: "dead-letters" }} label="Dead letters" />}
      </nav>
      <span class="spring" />
      {claims && (
        <span class="who" title="The user of the token">
          <bdi>{claims.user}</bdi> <span class="muted">{store.role}</span>
        </span>
      )}
      <select
        aria-label="Theme"
        defaultValue={themes.find(({ isChosen }) => isChosen)?.label}
        onChange={({ currentTarget }) => themes[currentTarget.selectedIndex]?.act()}
      >
        {themes.map(({ label }) => (
          <option key={label}>{label}</option>
        ))}
      </select>
      <Button class="plain" testId="sign-out" onClick={() => store.signOut()}>
        Sign out
      </Button>
    </header>
  );
}

function Tab({ store, to, label }: { readonly store: AdminStore; readonly to: Route; readonly label: string }) {
  const isHere = store.route.view === to.view;
  return (
    <a href={hashOf(to)} aria-current={isHere ? "page" : undefined} data-testid={`tab-${to.view}`}>
      {label}
    </a>
  );
}
