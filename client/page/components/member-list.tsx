// Who is here. Moderators find beside each name what they may do about it.
import { named } from "../state/names.ts";
import type { Person } from "../state/roster.ts";
import type { MenuItem, Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";
import { Avatar } from "./avatar.tsx";
import { IconButton } from "./icons.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

export function MemberList({ session, visit }: { readonly session: Session; readonly visit: Visit }) {
  const { people, count } = visit.company.roster;
  return (
    <SidePanel session={session} title={`Members · ${count}`}>
      <ul class="members" data-testid="members">
        {people.map((person) => (
          <Member key={person.user} session={session} visit={visit} person={person} />
        ))}
      </ul>
      {people.length < count && <p class="muted none">and {count - people.length} more</p>}
    </SidePanel>
  );
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
        {isSelf && <span class="muted">(you)</span>}
      </span>
      {visit.isModerator && !isSelf && (
        <IconButton
          icon="more"
          label={`Moderate ${named(name)}`}
          testId="moderate"
          onClick={({ currentTarget }) =>
            session.set({ menu: { anchor: currentTarget, items: menuOf(session, visit, user) } })
          }
        />
      )}
    </li>
  );
}

function menuOf(session: Session, visit: Visit, user: string): MenuItem[] {
  const ask = (deed: "kick" | "mute" | "ban") => () => session.set({ dialog: { kind: "moderate", deed, user } });
  return [
    { label: "Mute…", act: ask("mute") },
    { label: "Kick…", act: ask("kick") },
    { label: "Ban…", act: ask("ban"), isGrave: true },
    { label: "Make a moderator", act: () => void visit.deeds.moderate("grant", { user, role: "moderator" }) },
    { label: "Take back the role", act: () => void visit.deeds.moderate("revoke", { user }) },
  ];
}
