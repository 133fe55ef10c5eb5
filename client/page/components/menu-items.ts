// Lists the actions of the open menu: on a message, on a person, or of the room. The menu draws them.
import type { Message, Person } from "parley-rooms/client";

import { named } from "../state/names.ts";
import type { ChatProps, MenuItem } from "./chat-props.ts";
import { copyText } from "./clipboard.ts";
import { featureItems } from "./feature-items.ts";
import { tellingItems, unreadItem } from "./telling-items.ts";
import { themeItems } from "./theme.ts";

export function menuItems({ store, view }: ChatProps): MenuItem[] {
  const { anchor, message: id, person } = store.ui.menu!;
  const message = id === undefined ? undefined : view.messageOf(id);
  // Until it is known, and once it is deleted, there is nothing to do with it.
  if (id !== undefined && !message) return [];
  const items = message
    ? itemsOfMessage({ store, view }, message, anchor)
    : person
      ? itemsOfPerson({ store, view }, person)
      : itemsOfRoom({ store, view }, anchor);
  return items.filter((item) => item !== false);
}

type Items = Array<MenuItem | false>;

function itemsOfMessage({ store, view }: ChatProps, message: Message, anchor: Element): Items {
  const { sender } = message;
  const can = view.store.abilitiesOf(message);
  const name = named(message.name);
  const remove = (): void => {
    // Deleting removes the button, so its message takes the focus.
    anchor.closest("li")?.focus({ preventScroll: true });
    store.set({ dialog: { kind: "delete", message: message.id } });
  };
  const copy = async (): Promise<void> => {
    if (await copyText(view.people.withNames(message.content), anchor)) return;
    view.show("The browser did not copy the text. Select it in the message, and copy it from there.");
  };
  return [
    message.content !== "" && { label: "Copy text", act: () => void copy() },
    { label: "Details…", act: () => store.set({ dialog: { kind: "details", message: message.id } }) },
    can.edit && { label: "Edit", act: () => store.edit(message) },
    unreadItem({ store, view }, message),
    ...featureItems({ store, view }, message),
    can.remove && { label: "Delete", act: remove, isGrave: true },
    !message.origin && messageItem(store, { user: sender, name: message.name }),
    can.moderate && { label: `Mute ${name}…`, act: asking(store, "mute", sender) },
    can.moderate && { label: `Kick ${name}…`, act: asking(store, "kick", sender) },
    can.moderate && { label: `Ban ${name}…`, act: asking(store, "ban", sender), isGrave: true },
  ];
}

/** Begins a conversation between two people. */
function messageItem(store: ChatProps["store"], person: Pick<Person, "user" | "name">): MenuItem | false {
  return (
    store.mayMessage(person.user) && { label: `Message ${named(person.name)}`, act: () => void store.message(person) }
  );
}

function itemsOfPerson({ store, view }: ChatProps, person: Person): Items {
  const { user, role, granted } = person;
  if (!view.store.mayModerate(user)) return [messageItem(store, person)];
  const appoint = (): void => void view.actions.moderate("grant", { user, role: "moderator" });
  const dismiss = (): void => void view.actions.moderate("revoke", { user });
  // A moderator whom the room itself appointed cannot appoint others (MOD-9).
  const mayAppoint = !view.state.presence.members.some((one) => one.user === view.self && one.granted);
  const isPlain = role === undefined || role === "reader";
  return [
    messageItem(store, person),
    { label: "Mute…", act: asking(store, "mute", user) },
    { label: "Kick…", act: asking(store, "kick", user) },
    { label: "Ban…", act: asking(store, "ban", user), isGrave: true },
    isPlain && mayAppoint && { label: "Make a moderator", act: appoint },
    granted === true && { label: `Remove as ${role}`, act: dismiss },
  ];
}

function itemsOfRoom({ store, view }: ChatProps, anchor: Element): Items {
  return [
    view.state.me.isModerator && { label: "Moderate this room…", act: () => store.set({ dialog: { kind: "room" } }) },
    ...tellingItems({ store, view }),
    ...themeItems(anchor),
    { label: "Keyboard shortcuts…", act: () => store.set({ dialog: { kind: "shortcuts" } }) },
    !store.isEmbedded && { label: `Leave the ${view.kind}`, act: () => store.forget() },
    !store.isEmbedded && { label: "Sign out", act: () => store.signOut() },
  ];
}

/** Opens the dialog that decides on a person. */
const asking = (store: ChatProps["store"], action: "kick" | "mute" | "ban", user: string) => (): void =>
  store.set({ dialog: { kind: "moderate", action, user } });
