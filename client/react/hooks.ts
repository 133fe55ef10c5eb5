// The hooks that draw a room: each re-renders its component for one part of the room's state only. All take the room around them, or
// one that is passed. The functions that they return stay the same as long as the room does, so effects may depend on them.
import { useCallback, useEffect, useMemo, useRef } from "react";

import type {
  ActionPayload,
  Message,
  ModerationAction,
  ModerationChange,
  RoomModes,
  Typist,
} from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { Connection, RoomEvents } from "../core/api.ts";
import type { Outcome } from "../store/api.ts";
import { itemsOf, type MessageItem } from "../store/message-items.ts";
import { readersOf } from "../store/read-marks.ts";
import type { RoomHandle } from "../store/shared-rooms.ts";
import type { Replies } from "../store/replies.ts";
import type {
  Abilities,
  Me,
  MessagesState,
  OwnThreads,
  PresenceState,
  Problem,
  ReadingState,
  ThreadState,
  Upload,
} from "../store/state.ts";
import { unreadOf, type Unread } from "../store/unread.ts";
import { useGivenRoom } from "./providers.ts";
import { usePart } from "./use-part.ts";

/** The state of the connection, with the reason and the next attempt where there is none. `room.connect()` tries at once. */
export const useConnection = (given?: RoomHandle): Connection =>
  usePart(useGivenRoom(given, "useConnection"), ({ connection }) => connection);

/** The user in this room: name, role, and why they cannot write. */
export const useMe = (given?: RoomHandle): Me => usePart(useGivenRoom(given, "useMe"), ({ me }) => me);

export interface Messages extends Omit<MessagesState, "stored" | "outgoing">, Pick<RoomHandle, PlaceActions> {
  /** Stored ones and those on their way, in the order in which they are shown. */
  readonly messages: readonly MessageItem[];
}

type PlaceActions =
  | "loadNotShown"
  | "loadEarlier"
  | "loadLater"
  | "showNewest"
  | "jumpTo"
  | "follow"
  | "edit"
  | "remove"
  | "react";

export function useMessages(given?: RoomHandle): Messages {
  const room = useGivenRoom(given, "useMessages");
  const state = usePart(room, ({ messages }) => messages);
  const user = usePart(room, ({ me }) => me.user);
  const name = usePart(room, ({ me }) => me.name);
  const actions = useMemo(
    (): Pick<RoomHandle, PlaceActions> => ({
      loadEarlier: () => room.loadEarlier(),
      loadLater: () => room.loadLater(),
      loadNotShown: (from) => room.loadNotShown(from),
      showNewest: () => room.showNewest(),
      jumpTo: (place) => room.jumpTo(place),
      follow: (following) => room.follow(following),
      edit: (id, content) => room.edit(id, content),
      remove: (id) => room.remove(id),
      react: (id, emoji, on) => room.react(id, emoji, on),
    }),
    [room],
  );
  return useMemo(() => {
    const { stored: _stored, outgoing: _outgoing, ...rest } = state;
    return { ...rest, ...actions, messages: itemsOf(state, { user, name }) };
  }, [state, user, name, actions]);
}

export interface Send extends Pick<RoomHandle, "send" | "retry" | "discard">, Pick<Me, "blocked" | "hold"> {
  /** Characters; `Infinity` before the welcome. */
  readonly maxLength: number;
}

/** Sends messages, and tells whether they are taken now. */
export function useSend(given?: RoomHandle): Send {
  const room = useGivenRoom(given, "useSend");
  const { blocked, hold } = usePart(room, ({ me }) => me);
  const maxLength = usePart(room, ({ welcome }) => welcome?.settings.maxContentLength ?? Infinity);
  const actions = useMemo(
    (): Pick<RoomHandle, "send" | "retry" | "discard"> => ({
      send: (content, options) => room.send(content, options),
      retry: (failed) => room.retry(failed),
      discard: (clientMsgId) => room.discard(clientMsgId),
    }),
    [room],
  );
  return { ...actions, blocked, hold, maxLength };
}

export interface Presence extends PresenceState {
  /** Members by a part of their name, also in a room too large to be listed. */
  readonly find: RoomHandle["findMembers"];
}

export function usePresence(given?: RoomHandle): Presence {
  const room = useGivenRoom(given, "usePresence");
  const presence = usePart(room, (state) => state.presence);
  const find = useCallback((name: string) => room.findMembers(name), [room]);
  return useMemo(() => ({ ...presence, find }), [presence, find]);
}

export interface TypingState {
  /** Others who type. */
  readonly typists: readonly Typist[];
  /** In a large room, which names nobody: how many others type. */
  readonly count: number;
  /** For each key, with `false` for an emptied field. The hook tells the room every three seconds; sending a message ends it. */
  readonly sendTyping: (on?: boolean) => void;
}

export function useTyping(given?: RoomHandle): TypingState {
  const room = useGivenRoom(given, "useTyping");
  const typists = usePart(room, ({ typing }) => typing);
  const count = usePart(room, ({ typingCount }) => typingCount);
  const sendTyping = useCallback((on = true) => room.typing(on), [room]);
  return useMemo(() => ({ typists, count, sendTyping }), [typists, count, sendTyping]);
}

export interface UnreadState extends Unread {
  /** How far the user has read, on any device. */
  readonly readSeq: number;
  /** The user has read the room up to there. @param seq default: the newest loaded message */
  readonly markRead: RoomHandle["markRead"];
  /** The user wants to find that message and all after it as unread, on all devices. */
  readonly markUnread: RoomHandle["markUnread"];
}

const UNREAD_PARTS = ["count", "firstSeq", "mentions"] as const;

export function useUnread(given?: RoomHandle): UnreadState {
  const room = useGivenRoom(given, "useUnread");
  const unread = usePart(room, unreadOf, (one, other) => UNREAD_PARTS.every((part) => one[part] === other[part]));
  const readSeq = usePart(room, ({ reading }) => reading.readSeq);
  const actions = useMemo(
    (): Pick<RoomHandle, "markRead" | "markUnread"> => ({
      markRead: (seq) => room.markRead(seq),
      markUnread: (seq) => room.markUnread(seq),
    }),
    [room],
  );
  return useMemo(() => ({ ...unread, readSeq, ...actions }), [unread, readSeq, actions]);
}

/** Where the user is in the history: whether they follow the newest message, how many they missed, where they jumped to. */
export const useReading = (given?: RoomHandle): ReadingState =>
  usePart(useGivenRoom(given, "useReading"), ({ reading }) => reading);

/** Others who have read the messages, by the `seq` of the last message that each of them has read. */
export function useReaders(given?: RoomHandle): ReadonlyMap<number, readonly string[]> {
  const room = useGivenRoom(given, "useReaders");
  const marks = usePart(room, ({ readMarks }) => readMarks);
  const messages = usePart(room, ({ messages }) => messages.stored);
  const self = usePart(room, ({ me }) => me.user);
  return useMemo(() => readersOf(marks, messages, self), [marks, messages, self]);
}

/** The name of a user whom this room knows; otherwise the id. */
export const useName = (user: string, given?: RoomHandle): string =>
  usePart(useGivenRoom(given, "useName"), ({ names }) => names.get(user) ?? user);

/** The actions to offer on a message. The time to edit one ends; this hook sees that at the next render. */
export function useAbilities(message: Message, given?: RoomHandle): Abilities {
  const room = useGivenRoom(given, "useAbilities");
  usePart(room, ({ me }) => me);
  usePart(room, () => room.mayModerate(message.sender));
  return room.abilitiesOf(message);
}

/** A message that another one quotes: `null` if it is deleted, `undefined` until the room has answered. */
export function useQuoted(id: string, given?: RoomHandle): Message | null | undefined {
  const room = useGivenRoom(given, "useQuoted");
  return usePart(room, () => room.quoted(id));
}

/** What the page at an address says of itself: `null` without a card, `undefined` until the server has answered. `linkIn` finds the address. */
export function useLinkCard(url: string, given?: RoomHandle): LinkCard | null | undefined {
  const room = useGivenRoom(given, "useLinkCard");
  return usePart(room, () => room.linkCard(url));
}

/** The replies to a message that is loaded: how many, and who wrote the last ones; `undefined` without any. */
export function useReplies(id: string, given?: RoomHandle): Replies | undefined {
  const room = useGivenRoom(given, "useReplies");
  return usePart(room, () => room.threads.repliesTo(id));
}

export interface UsedThread extends ThreadState {
  /** Loads earlier replies, or the thread again after a `problem`. */
  readonly load: () => Promise<void>;
  /** The user has seen its newest reply. */
  readonly markRead: () => void;
  /** Whether the user wants to know what is new in it. */
  readonly follow: (on: boolean) => Promise<Outcome>;
}

/** A message with all its replies, as they come. @param id of its first message: `threadOf` tells that of a reply */
export function useThread(id: string, given?: RoomHandle): UsedThread {
  const room = useGivenRoom(given, "useThread");
  const state = usePart(room, () => room.threads.of(id));
  const actions = useMemo(
    (): Omit<UsedThread, keyof ThreadState> => ({
      load: () => room.threads.load(id),
      markRead: () => room.threads.markRead(id),
      follow: (on) => room.threads.follow(id, on),
    }),
    [room, id],
  );
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}

/** The threads in which the user takes part or which they follow, with what is new there. */
export function useThreads(given?: RoomHandle): OwnThreads {
  const room = useGivenRoom(given, "useThreads");
  return usePart(room, () => room.threads.own);
}

export interface Moderation {
  readonly modes: RoomModes;
  /** The newest action of a moderator. */
  readonly latest: ModerationChange | undefined;
  /** For moderators. */
  readonly moderate: <Action extends ModerationAction>(
    action: Action,
    payload: ActionPayload<Action>,
  ) => Promise<Outcome>;
}

export function useModeration(given?: RoomHandle): Moderation {
  const room = useGivenRoom(given, "useModeration");
  const modes = usePart(room, (state) => state.modes);
  const latest = usePart(room, ({ moderation }) => moderation);
  const moderate = useCallback<Moderation["moderate"]>((action, payload) => room.moderate(action, payload), [room]);
  return useMemo(() => ({ modes, latest, moderate }), [modes, latest, moderate]);
}

export interface UploadsState {
  readonly uploads: readonly Upload[];
  readonly add: (files: Iterable<File>) => void;
  readonly retry: (id: number) => void;
  readonly remove: (id: number) => void;
  readonly clear: () => void;
}

export function useUploads(given?: RoomHandle): UploadsState {
  const room = useGivenRoom(given, "useUploads");
  const uploads = usePart(room, (state) => state.uploads);
  const actions = useMemo(
    (): Omit<UploadsState, "uploads"> => ({
      add: (files) => room.addFiles(files),
      retry: (id) => room.retryUpload(id),
      remove: (id) => room.removeUpload(id),
      clear: () => room.clearUploads(),
    }),
    [room],
  );
  return useMemo(() => ({ uploads, ...actions }), [uploads, actions]);
}

export interface ProblemState {
  /** The newest failure that no caller waits for. */
  readonly problem: Problem | undefined;
  readonly dismiss: () => void;
}

export function useProblem(given?: RoomHandle): ProblemState {
  const room = useGivenRoom(given, "useProblem");
  const problem = usePart(room, (state) => state.problem);
  const dismiss = useCallback(() => room.dismissProblem(), [room]);
  return useMemo(() => ({ problem, dismiss }), [problem, dismiss]);
}

/** Calls the newest listener for each of these events while the component is mounted. */
export function useRoomEvent<Event extends keyof RoomEvents>(
  event: Event,
  listener: RoomEvents[Event],
  given?: RoomHandle,
): void {
  const handle = useGivenRoom(given, "useRoomEvent");
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  useEffect(() => {
    const { room } = handle;
    // The overloads of neither side can see that a generic event and its arguments belong together.
    const heard = ((...args: Parameters<RoomEvents[Event]>) =>
      (newest.current as (...given: typeof args) => void)(...args)) as RoomEvents[Event];
    room.on(event, heard);
    return () => room.off(event, heard);
  }, [handle, event]);
}
