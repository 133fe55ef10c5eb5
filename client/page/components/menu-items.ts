// Lists the actions of the open menu in groups: on a message, on a person, or of the room. The menu draws them.
import type { Message, Person } from "parley-rooms/client";

import { named } from "../state/names.ts";
import type { ChatProps, MenuItem } from "./chat-props.ts";
import { copyText } from "./clipboard.ts";
import { featureItems } from "./feature-items.ts";
import { notificationItems, unreadItem } from "./notification-items.ts";
import { themeItems } from "./theme.ts";

export function menuItems({ store, view }: ChatProps): MenuItem[][] {
  const { anchor, message: id, person } = store.ui.menu!;
  const message = id === undefined ? undefined : view.messageOf(id);
  // Until it is known, and once it is deleted, there is nothing to do with it.
  if (id !== undefined && !message) return [];
  const groups = message
    ? itemsOfMessage({ store, view }, message, anchor)
    : person
      ? itemsOfPerson({ store, view }, person)
      : itemsOfRoom({ store, view }, anchor);
  return groups.map((items) => items.filter((item) => item !== false)).filter((items) => items.length > 0);
}

type Groups = Array<Array<MenuItem | false>>;

function itemsOfMessage({ store, view }: ChatProps, message: Message, anchor: Element): Groups {
  const { sender } = message;
  const can = view.store.abilitiesOf(message);
  const remove = (): void => {
    // Deleting removes the button, so its message takes the focus.
    anchor.closest("li")?.focus({ preventScroll: true });
    store.set({ dialog: { kind: "delete", message: message.id } });
  };
  return [
    [
      message.content !== "" && {
        label: "Copy text",
        icon: "copy",
        act: () => void copyWords({ store, view }, message, anchor),
      },
      { label: "Details…", icon: "info", act: () => store.set({ dialog: { kind: "details", message: message.id } }) },
      can.edit && { label: "Edit", icon: "edit", act: () => store.edit(message) },
      unreadItem({ store, view }, message),
      ...featureItems({ store, view }, message),
      !message.origin && messageItem(store, { user: sender, name: message.name }),
    ],
    [can.remove && { label: "Delete", icon: "bin", act: remove, isGrave: true }],
    can.moderate ? decisions(store, sender, ` ${named(message.name)}`) : [],
  ];
}

async function copyWords({ view }: ChatProps, { content }: Message, anchor: Element): Promise<void> {
  if (await copyText(view.people.withNames(content), anchor)) return;
  view.show("The browser did not copy the text. Select it in the message, and copy it from there.");
}

/** Copies the address of the room for somebody else. */
export async function copyLink({ store, view }: ChatProps, anchor: Element): Promise<void> {
  const isCopied = await copyText(location.href, anchor);
  view.show(
    isCopied
      ? `The link to ${store.title} is copied.`
      : "The browser did not copy the link. It is the address of this page.",
  );
}

/** Begins a conversation between two people. */
function messageItem(store: ChatProps["store"], person: Pick<Person, "user" | "name">): MenuItem | false {
  return (
    store.mayMessage(person.user) && {
      label: `Message ${named(person.name)}`,
      icon: "message",
      act: () => void store.message(person),
    }
  );
}

function itemsOfPerson({ store, view }: ChatProps, person: Person): Groups {
  const { user, role, granted } = person;
  if (!view.store.mayModerate(user)) return [[messageItem(store, person)]];
  const appoint = (): void => void view.actions.moderate("grant", { user, role: "moderator" });
  const dismiss = (): void => void view.actions.moderate("revoke", { user });
  // A moderator whom the room itself appointed cannot appoint others (MOD-9).
  const mayAppoint = !view.state.presence.members.some((one) => one.user === view.self && one.granted);
  const isPlain = role === undefined || role === "reader";
  return [
    [
      messageItem(store, person),
      isPlain && mayAppoint && { label: "Make a moderator", icon: "shield", act: appoint },
      granted === true && { label: `Remove as ${role}`, icon: "shield", act: dismiss },
    ],
    decisions(store, user),
  ];
}

function itemsOfRoom({ store, view }: ChatProps, anchor: Element): Groups {
  const ask = (kind: "room" | "shortcuts") => (): void => store.set({ dialog: { kind } });
  return [
    [
      view.state.me.isModerator && { label: "Moderate this room…", icon: "shield", act: ask("room") },
      store.hasLink && { label: "Copy the link", icon: "link", act: () => void copyLink({ store, view }, anchor) },
      { label: "Keyboard shortcuts…", icon: "keys", act: ask("shortcuts") },
    ],
    notificationItems({ store, view }),
    themeItems(anchor),
    [
      !store.isEmbedded && { label: `Leave the ${view.kind}`, icon: "leave", act: () => store.forget() },
      !store.isEmbedded && { label: "Sign out", icon: "kick", act: () => store.signOut() },
    ],
  ];
}

/** What a moderator may decide on a person. */
function decisions(store: ChatProps["store"], user: string, name = ""): MenuItem[] {
  const ask = (action: "kick" | "mute" | "ban") => (): void =>
    store.set({ dialog: { kind: "moderate", action, user } });
  return [
    { label: `Mute${name}…`, icon: "mute", act: ask("mute") },
    { label: `Kick${name}…`, icon: "kick", act: ask("kick") },
    { label: `Ban${name}…`, icon: "ban", act: ask("ban"), isGrave: true },
  ];
}
