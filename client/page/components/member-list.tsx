// The panel of members, with a moderator's actions beside each name. The app draws it.
import { useEffect, useState } from "preact/hooks";

import { named } from "../state/names.ts";
import type { Person } from "../state/roster.ts";
import type { MenuItem, Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";
import { Avatar } from "./avatar.tsx";
import { IconButton } from "./icons.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

/** From so many members on there is a field to find one by. */
const FIND_FROM = 20;
/** A large room is asked once the reader has stopped typing for so long. */
const PAUSE_MS = 250;

export function MemberList({ session, visit }: { readonly session: Session; readonly visit: Visit }) {
  const { people, count, isComplete } = visit.company.roster;
  const [find, setFind] = useState("");
  const found = useFound(visit, find.trim());
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
          <Member key={person.user} session={session} visit={visit} person={person} />
        ))}
      </ul>
      {shown.length === 0 && find !== "" && <p class="muted none">Nobody of that name is here.</p>}
      {more > 0 && <p class="muted none">and {more} more</p>}
    </SidePanel>
  );
}

const fits = (name: string, find: string): boolean => name.toLocaleLowerCase().includes(find.toLocaleLowerCase());

/** Of a room that lists only some of its members, it is the room that finds the others. */
function useFound(visit: Visit, find: string): readonly Person[] | undefined {
  const { company } = visit;
  const [found, setFound] = useState<readonly Person[]>();
  const isAsked = find !== "" && !company.roster.isComplete;
  useEffect(() => {
    if (!isAsked) return setFound(undefined);
    let isOver = false;
    const ask = (): void => void company.find(find).then((people) => isOver || setFound(people));
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [company, find, isAsked]);
  return isAsked ? found : undefined;
}

function Member({
  session,
  visit,
  person,
}: {
  readonly session: Session;
  readonly visit: Visit;
  readonly person: Person;
}) {
  const { user, name } = person;
  const isSelf = user === visit.self;
  return (
    <li class="member">
      <span class="here">
        <Avatar user={user} name={name} />
      </span>
      <span class="member-name">
        <bdi title={named(user)}>{name}</bdi> <Tag visit={visit} user={user} />
        {isSelf && <span class="muted"> (you)</span>} {person.role && <span class="role">{person.role}</span>}
      </span>
      {visit.isModerator && !isSelf && (
        <IconButton
          icon="more"
          label={`Moderate ${named(name)}`}
          testId="moderate"
          onClick={({ currentTarget }) =>
            session.set({ menu: { anchor: currentTarget, items: menuOf(session, visit, person) } })
          }
        />
      )}
    </li>
  );
}

function menuOf(session: Session, visit: Visit, { user, role, granted }: Person): MenuItem[] {
  const ask = (deed: "kick" | "mute" | "ban") => () => session.set({ dialog: { kind: "moderate", deed, user } });
  const appoint = (): void => void visit.deeds.moderate("grant", { user, role: "moderator" });
  const dismiss = (): void => void visit.deeds.moderate("revoke", { user });
  // Who has the role from the room itself cannot pass it on (MOD-9).
  const mayAppoint = !visit.company.roster.people.some((one) => one.user === visit.self && one.granted);
  const isPlain = role === undefined || role === "reader";
  return [
    { label: "Mute…", act: ask("mute") },
    { label: "Kick…", act: ask("kick") },
    { label: "Ban…", act: ask("ban"), isGrave: true },
    ...(isPlain && mayAppoint ? [{ label: "Make a moderator", act: appoint }] : []),
    ...(granted ? [{ label: `Remove as ${role}`, act: dismiss }] : []),
  ];
}
