// The panel of members, with a moderator's actions beside each name. The app draws it.
import { useState } from "preact/hooks";
import type { Person } from "parley-rooms/client";

import { numberText, t, tn } from "../state/language.ts";
import { bare, named } from "../state/names.ts";
import { roleText } from "../state/people.ts";
import type { ChatProps } from "./chat-props.ts";
import { Avatar } from "./avatar.tsx";
import { IconButton, SearchField, submitting } from "./controls.tsx";
import { useFound } from "./found-members.ts";
import { SidePanel } from "./side-panel.tsx";
import { Tag } from "./tag.tsx";

/** A room with more members shows a field to find one. */
const FIND_FROM = 20;

export function MemberList({ store, view }: ChatProps) {
  const { members, isComplete } = view.state.presence;
  const count = store.memberCount ?? 0;
  const [find, setFind] = useState("");
  const found = useFound(view, find.trim());
  const shown = found ?? members.filter(({ name }) => fits(name, find.trim()));
  const more = find.trim() === "" ? count - members.length : 0;
  return (
    <SidePanel store={store} title={count === 0 ? t("Members") : `${t("Members")} · ${numberText(count)}`}>
      {(count > FIND_FROM || (view.state.welcome && !isComplete)) && (
        <form class="search-form" role="search" onSubmit={submitting(() => {})}>
          <SearchField label={t("Find a member")} testId="member-find" value={find} onText={setFind} />
        </form>
      )}
      <ul class="members" data-testid="members">
        {shown.map((person) => (
          <Member key={person.user} store={store} view={view} person={person} />
        ))}
      </ul>
      {shown.length === 0 && find !== "" && <p class="muted none">{t("No member of that name.")}</p>}
      {more > 0 && <p class="muted none">{tn(more, "and {n} more", "and {n} more")}</p>}
    </SidePanel>
  );
}

const fits = (name: string, find: string): boolean => name.toLocaleLowerCase().includes(find.toLocaleLowerCase());

function Member({ store, view, person }: ChatProps & { readonly person: Person }) {
  const { user, name } = person;
  const isSelf = user === view.self;
  const mayModerate = view.store.mayModerate(user);
  return (
    <li class="member">
      <span class="here">
        <Avatar user={user} name={name} />
      </span>
      <span class="member-name">
        <bdi title={named(user)}>{bare(name)}</bdi> <Tag view={view} user={user} />
        {isSelf && <span class="muted"> {t("(you)")}</span>}{" "}
        {person.role && <span class="role">{roleText(person.role)}</span>}
      </span>
      {(mayModerate || store.mayMessage(user)) && (
        <IconButton
          icon="more"
          label={
            mayModerate ? t("Moderate {name}", { name: named(name) }) : t("Actions for {name}", { name: named(name) })
          }
          testId={mayModerate ? "moderate" : "person-menu"}
          onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget, person } })}
        />
      )}
    </li>
  );
}
