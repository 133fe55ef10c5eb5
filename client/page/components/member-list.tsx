// The panel of members, with a moderator's actions beside each name. The app draws it.
import { useEffect, useState } from "preact/hooks";

import { named } from "../state/names.ts";
import type { Person } from "../state/roster.ts";
import type { MenuItem, Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { Avatar } from "./avatar.tsx";
import { IconButton } from "./icons.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

/** From so many members on there is a field to find one by. */
const FIND_FROM = 20;
/** A large room is asked once the reader has stopped typing for so long. */
const PAUSE_MS = 250;

export function MemberList({ session, view }: { readonly session: Session; readonly view: RoomView }) {
  const { people, count, isComplete } = view.presence.roster;
  const [find, setFind] = useState("");
  const found = useFound(view, find.trim());
  const shown = found ?? people.filter(({ name }) => fits(name, find.trim()));
  const more = find.trim() === "" ? count - people.length : 0;
  return (
    <SidePanel session={session} title={`Members · ${count}`}>
      {(count > FIND_FROM || !isComplete) && (
        <form class="search-form" role="search" onSubmit={(event) => event.preventDefault()}>
          <input
            type="search"
            aria-label="Find a member"
            placeholder="Find a member"
            data-testid="member-find"
            value={find}
            onInput={({ currentTarget }) => setFind(currentTarget.value)}
          />
        </form>
      )}
      <ul class="members" data-testid="members">
        {shown.map((person) => (
          <Member key={person.user} session={session} view={view} person={person} />
        ))}
      </ul>
      {shown.length === 0 && find !== "" && <p class="muted none">No member of that name.</p>}
      {more > 0 && <p class="muted none">and {more} more</p>}
    </SidePanel>
  );
}

const fits = (name: string, find: string): boolean => name.toLocaleLowerCase().includes(find.toLocaleLowerCase());

/** Of a room that lists only some of its members, it is the room that finds the others. */
function useFound(view: RoomView, find: string): readonly Person[] | undefined {
  const { presence } = view;
  const [found, setFound] = useState<readonly Person[]>();
  const isAsked = find !== "" && !presence.roster.isComplete;
  useEffect(() => {
    if (!isAsked) return setFound(undefined);
    let isOver = false;
    const ask = (): void => void presence.find(find).then((people) => isOver || setFound(people));
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [presence, find, isAsked]);
  return isAsked ? found : undefined;
}

function Member({
  session,
  view,
  person,
}: {
  readonly session: Session;
  readonly view: RoomView;
  readonly person: Person;
}) {
  const { user, name } = person;
  const isSelf = user === view.self;
  return (
    <li class="member">
      <span class="here">
        <Avatar user={user} name={name} />
      </span>
      <span class="member-name">
        <bdi title={named(user)}>{name}</bdi> <Tag view={view} user={user} />
        {isSelf && <span class="muted"> (you)</span>} {person.role && <span class="role">{person.role}</span>}
      </span>
      {view.isModerator && !isSelf && (
        <IconButton
          icon="more"
          label={`Moderate ${named(name)}`}
          testId="moderate"
          onClick={({ currentTarget }) =>
            session.set({ menu: { anchor: currentTarget, items: menuOf(session, view, person) } })
          }
        />
      )}
    </li>
  );
}

function menuOf(session: Session, view: RoomView, { user, role, granted }: Person): MenuItem[] {
  const ask = (action: "kick" | "mute" | "ban") => () => session.set({ dialog: { kind: "moderate", action, user } });
  const appoint = (): void => void view.actions.moderate("grant", { user, role: "moderator" });
  const dismiss = (): void => void view.actions.moderate("revoke", { user });
  // Who has the role from the room itself cannot pass it on (MOD-9).
  const mayAppoint = !view.presence.roster.people.some((one) => one.user === view.self && one.granted);
  const isPlain = role === undefined || role === "reader";
  return [
    { label: "Mute…", act: ask("mute") },
    { label: "Kick…", act: ask("kick") },
    { label: "Ban…", act: ask("ban"), isGrave: true },
    ...(isPlain && mayAppoint ? [{ label: "Make a moderator", act: appoint }] : []),
    ...(granted ? [{ label: `Remove as ${role}`, act: dismiss }] : []),
  ];
}
