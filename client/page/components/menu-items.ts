// Lists the actions of the open menu in groups: on a message, on a person, of the room, or of the reader. The menu draws them.
import { threadOf, type Message, type Person } from "parley-rooms/client";

import { hashOf } from "../state/address.ts";
import { t } from "../state/language.ts";
import { named } from "../state/names.ts";
import { roleText } from "../state/people.ts";
import type { ChatProps, MenuItem } from "./chat-props.ts";
import { copyText } from "./clipboard.ts";
import { featureItems } from "./feature-items.ts";
import { invite, inviteLabel } from "./invite.ts";
import { muteItem, notificationItems, unreadItem } from "./notification-items.ts";
import { themeItems } from "./theme.ts";

export function menuItems({ store, view }: ChatProps): MenuItem[][] {
  const { anchor, message: id, person, isOwn, isSheet } = store.ui.menu!;
  const message = id === undefined ? undefined : view.messageOf(id);
  // Until it is known, and once it is deleted, there is nothing to do with it.
  if (id !== undefined && !message) return [];
  const groups = message
    ? itemsOfMessage({ store, view }, message, anchor, isSheet)
    : person
      ? itemsOfPerson({ store, view }, person)
      : isOwn
        ? itemsOfReader({ store, view }, anchor)
        : itemsOfRoom({ store, view }, anchor);
  return groups.map((items) => items.filter((item) => item !== false)).filter((items) => items.length > 0);
}

type Groups = Array<Array<MenuItem | false>>;

/** @param isSheet whether it stands in place of the tools, too, and of the browser's selection by a long press */
function itemsOfMessage({ store, view }: ChatProps, message: Message, anchor: Element, isSheet = false): Groups {
  const { sender } = message;
  const can = view.store.abilitiesOf(message);
  const { thread } = store;
  const composing = thread !== undefined && anchor.closest(".side-panel") ? view.composingIn(thread) : view.composing;
  const remove = (): void => {
    // Deleting removes the button, so its message takes the focus.
    anchor.closest("li")?.focus({ preventScroll: true });
    store.set({ dialog: { kind: "delete", message: message.id } });
  };
  return [
    [
      isSheet && can.reply && { label: t("Reply"), icon: "reply", act: () => composing.writing.reply(message.id) },
      isSheet &&
        view.hasThreads &&
        composing.thread === undefined && {
          label: t("Reply in thread"),
          icon: "thread",
          act: () => store.openThread(threadOf(message) ?? message.id),
        },
      message.content !== "" && {
        label: t("Copy text"),
        icon: "copy",
        act: () => void copyWords({ store, view }, message, anchor),
      },
      isSheet && message.content !== "" && { label: t("Select text"), icon: "select", act: () => selectWords(anchor) },
      store.hasLink && {
        label: t("Copy link"),
        icon: "link",
        act: () => void copyLink({ store, view }, message, anchor),
      },
      {
        label: t("Details…"),
        icon: "info",
        act: () => store.set({ dialog: { kind: "details", message: message.id } }),
      },
      can.edit && { label: t("Edit"), icon: "edit", act: () => store.edit(message) },
      unreadItem({ store, view }, message),
      ...featureItems({ store, view }, message),
      !message.origin && messageItem(store, { user: sender, name: message.name }),
    ],
    [can.remove && { label: t("Delete"), icon: "bin", act: remove, isGrave: true }],
    can.moderate ? decisions(store, sender, named(message.name)) : [],
  ];
}

async function copyWords({ view }: ChatProps, { content }: Message, anchor: Element): Promise<void> {
  if (await copyText(view.people.withNames(content), anchor)) return;
  view.show(t("The browser did not copy the text. Select it in the message, and copy it from there."));
}

/** Of this message alone a long press selects words, until nothing is selected. */
function selectWords(row: Element): void {
  const words = row.querySelector<HTMLElement>(".content")!;
  words.dataset["selectable"] = "";
  getSelection()?.selectAllChildren(words);
  const ending = new AbortController();
  const look = (): void => {
    if (!getSelection()?.isCollapsed) return;
    delete words.dataset["selectable"];
    ending.abort();
  };
  document.addEventListener("selectionchange", look, { signal: ending.signal });
}

async function copyLink({ view }: ChatProps, { id }: Message, anchor: Element): Promise<void> {
  const link = new URL(hashOf({ room: view.room, message: id }), location.href).href;
  const isCopied = await copyText(link, anchor);
  view.show(
    isCopied ? t("The link to the message is copied.") : t("The browser did not copy the link: {link}", { link }),
  );
}

/** Begins a conversation between two people. */
function messageItem(store: ChatProps["store"], person: Pick<Person, "user" | "name">): MenuItem | false {
  return (
    store.mayMessage(person.user) && {
      label: t("Message {name}", { name: named(person.name) }),
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
      isPlain && mayAppoint && { label: t("Make a moderator"), icon: "shield", act: appoint },
      granted === true && { label: t("Remove as {role}", { role: roleText(role!) }), icon: "shield", act: dismiss },
    ],
    decisions(store, user),
  ];
}

function itemsOfRoom({ store, view }: ChatProps, anchor: Element): Groups {
  const { isEmbedded, hasLink } = store;
  return [
    [
      view.state.me.isModerator && { label: t("Moderate this room…"), icon: "shield", act: asking(store, "room") },
      view.hasThreads && { label: t("Threads"), icon: "thread", act: () => store.open("threads") },
      hasLink && { label: t("About this room…"), icon: "info", act: asking(store, "about-room") },
      {
        label: t("Jump to a date…"),
        icon: "date",
        act: () => store.set({ dialog: { kind: "date", at: view.shownDay ?? view.store.now() } }),
      },
      hasLink && { label: inviteLabel(), icon: "link", act: () => void invite({ store, view }, anchor) },
      isEmbedded && shortcutsItem(store),
    ],
    isEmbedded ? themeItems(anchor) : [],
    [
      muteItem({ store, view }),
      !isEmbedded && {
        label: view.kind === "room" ? t("Leave the room") : t("Leave the conversation"),
        icon: "leave",
        act: () => store.forget(),
      },
    ],
  ];
}

/** What is the reader's own, in whichever room they are. */
function itemsOfReader({ store, view }: ChatProps, anchor: Element): Groups {
  return [
    [store.mayRename && { label: t("Change your name…"), icon: "edit", act: asking(store, "rename") }],
    notificationItems({ store, view }),
    themeItems(anchor),
    [
      { label: t("Language…"), icon: "globe", act: asking(store, "language") },
      shortcutsItem(store),
      { label: t("Sign out"), icon: "leave", act: () => store.signOut() },
    ],
  ];
}

const asking =
  (store: ChatProps["store"], kind: "room" | "shortcuts" | "language" | "about-room" | "rename") => (): void =>
    store.set({ dialog: { kind } });

const shortcutsItem = (store: ChatProps["store"]): MenuItem => ({
  label: t("Keyboard shortcuts…"),
  icon: "keys",
  act: asking(store, "shortcuts"),
});

/** What a moderator may decide on a person. */
function decisions(store: ChatProps["store"], user: string, name = ""): MenuItem[] {
  const ask = (action: "kick" | "mute" | "ban") => (): void =>
    store.set({ dialog: { kind: "moderate", action, user } });
  return [
    { label: name === "" ? t("Mute…") : t("Mute {name}…", { name }), icon: "mute", act: ask("mute") },
    { label: name === "" ? t("Kick…") : t("Kick {name}…", { name }), icon: "kick", act: ask("kick") },
    { label: name === "" ? t("Ban…") : t("Ban {name}…", { name }), icon: "ban", act: ask("ban"), isGrave: true },
  ];
}
