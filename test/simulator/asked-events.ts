// The events that plans ask of a room, with their payloads. Called by draw-plan.ts.
import type { ClientToServerEvents, ModerationAction } from "../../src/protocol/chat-events.ts";

type Asking = readonly [event: string, payload: object];

const allOf = (payloads: Readonly<Record<string, readonly object[]>>): Asking[] =>
  Object.entries(payloads).flatMap(([event, each]) => each.map((payload) => [event, payload] as const));

/**
 * The payloads of the step `ask`. The compiler asks for a line for each new event: no payload where the event has a step of its
 * own, or names a message, a token or another room.
 */
const QUESTION_PAYLOADS: Readonly<Record<Exclude<keyof ClientToServerEvents, ModerationAction>, readonly object[]>> = {
  presence: [{}],
  history: [{ limit: 20 }],
  typing: [{ on: true }],
  // A step of its own: look-away.
  attend: [],
  "read-marks": [{}],
  changes: [{ after: 0 }],
  search: [{ query: "says" }],
  // The steps say, talk, read and change.
  "chat-message": [],
  read: [],
  "edit-message": [],
  "delete-message": [],
  react: [],
  "get-message": [],
  versions: [],
  reactions: [],
  "refresh-token": [],
  "open-dm": [],
  audit: [],
  "moderation-state": [],
};

export const QUESTIONS: readonly Asking[] = [...allOf(QUESTION_PAYLOADS), ["nonsense", {}]];

/** The payloads of the step `moderate`, without the user. The compiler asks for a line for each new action. */
const ACTION_PAYLOADS: Readonly<Record<ModerationAction, readonly object[]>> = {
  ban: [{ seconds: 20 }, {}],
  unban: [{}],
  kick: [{}],
  mute: [{ seconds: 10 }],
  unmute: [{}],
  grant: [{ role: "reader" }],
  revoke: [{}],
  // Actions without a user: see MODES.
  "slow-mode": [],
  "read-only": [],
};

export const ACTIONS = allOf(ACTION_PAYLOADS);

export const MODES: readonly Asking[] = [
  ["read-only", { on: true }],
  ["read-only", { on: false }],
  ["slow-mode", { seconds: 3 }],
  ["slow-mode", { seconds: 0 }],
];

export const DISPUTED: readonly Asking[] = [
  ["mute", { seconds: 10 }],
  ["ban", { seconds: 10 }],
  ["grant", { role: "reader" }],
  ["slow-mode", { seconds: 3 }],
  ["read-only", { on: true }],
  ["kick", {}],
];
