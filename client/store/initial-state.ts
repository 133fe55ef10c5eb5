// The state before anything came from a room. Shared rooms begin with it, and hooks stay with it on servers.
import type { RoomState } from "./state.ts";

export const INITIAL: RoomState = {
  connection: { state: "connecting" },
  welcome: undefined,
  me: {
    user: "",
    name: "",
    role: "member",
    isModerator: false,
    blocked: undefined,
    hold: undefined,
    canAttach: true,
  },
  modes: { slowModeSeconds: 0, readOnly: false },
  messages: {
    stored: [],
    outgoing: [],
    hasEarlier: false,
    hasLater: false,
    notShown: [],
    isLoaded: false,
    isOpening: true,
    loading: undefined,
  },
  presence: { count: 0, members: [], isComplete: false },
  typing: [],
  typingCount: 0,
  reading: {
    readSeq: 0,
    lastSeq: 0,
    following: true,
    missed: 0,
    unreadAfter: undefined,
    news: undefined,
    target: undefined,
  },
  readMarks: new Map(),
  names: new Map(),
  uploads: [],
  moderation: undefined,
  problem: undefined,
};
