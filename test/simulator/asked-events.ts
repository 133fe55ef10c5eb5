// The events that plans ask of a room, with their payloads. Called by draw-plan.ts. All seeds draw from these lists, so another line changes
// every plan. CONTRIBUTING.md says how to find the kept seeds anew.

type Asking = readonly [event: string, payload: object];

/** Of the step `ask`. Events that name a message, a token or another room have steps of their own, or none. */
export const QUESTIONS: readonly Asking[] = [
  ["presence", {}],
  ["history", { limit: 20 }],
  ["typing", { on: true }],
  ["read-marks", {}],
  ["changes", { after: 0 }],
  ["search", { query: "says" }],
  ["nonsense", {}],
];

/** Of the step `moderate`, without the user. */
export const ACTIONS: readonly Asking[] = [
  ["ban", { seconds: 20 }],
  ["ban", {}],
  ["unban", {}],
  ["kick", {}],
  ["mute", { seconds: 10 }],
  ["unmute", {}],
  ["grant", { role: "reader" }],
  ["revoke", {}],
];

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
