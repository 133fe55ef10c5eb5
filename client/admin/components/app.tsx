// The whole operator page: the token first, then the rooms, one room, or dead letters.
import { themeItems } from "../../page/components/theme.ts";
import { IconButton } from "../../page/components/icons.tsx";
import { claimsOf } from "../../core/claims.ts";
import type { Desk } from "../state/desk.ts";
import { hashOf, type Route } from "../state/route.ts";
import { DeadLetters } from "./dead-letters.tsx";
import { Dialogs } from "./dialogs.tsx";
import { RoomView } from "./room-view.tsx";
import { RoomsView } from "./rooms-view.tsx";
import { SignIn } from "./sign-in.tsx";

export function App({ desk }: { readonly desk: Desk }) {
  if (desk.token === undefined) return <SignIn desk={desk} />;
  const { route } = desk;
  return (
    <div class="desk">
      <Header desk={desk} />
      <main>
        {route.view === "rooms" && <RoomsView desk={desk} />}
        {route.view === "room" && <RoomView key={route.room} desk={desk} room={route.room} />}
        {route.view === "dead-letters" && <DeadLetters desk={desk} />}
      </main>
      <div class="said" role="status" data-testid="said">
        {desk.said && (
          <p class={desk.said.isBad ? "bad" : "good"}>
            <span>{desk.said.text}</span>
            <IconButton icon="close" label="Dismiss" onClick={() => desk.quiet()} />
          </p>
        )}
      </div>
      <Dialogs desk={desk} />
    </div>
  );
}

function Header({ desk }: { readonly desk: Desk }) {
  const claims = claimsOf(desk.token ?? "");
  const themes = themeItems(document.documentElement);
  return (
    <header class="bar">
      <a class="brand" href="#">
        <img src="/favicon.svg" alt="" width="24" height="24" /> Parley <span class="muted">operator</span>
      </a>
      <nav aria-label="Views">
        <Tab desk={desk} to={{ view: "rooms" }} label="Rooms" />
        {desk.isService && <Tab desk={desk} to={{ view: "dead-letters" }} label="Dead letters" />}
      </nav>
      <span class="spring" />
      {claims && (
        <span class="who" title="Whom the token names">
          <bdi>{claims.user}</bdi> <span class="muted">{claims.role}</span>
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
      <button type="button" class="plain" data-testid="sign-out" onClick={() => desk.signOut()}>
        Sign out
      </button>
    </header>
  );
}

function Tab({ desk, to, label }: { readonly desk: Desk; readonly to: Route; readonly label: string }) {
  const isHere = desk.route.view === to.view;
  return (
    <a href={hashOf(to)} aria-current={isHere ? "page" : undefined} data-testid={`tab-${to.view}`}>
      {label}
    </a>
  );
}
