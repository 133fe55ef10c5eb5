// What of the package a Worker uses, seen from its code. Called by the checks.
import type { Entry } from "./entry.ts";

export const usesChat = ({ imports, text }: Entry): boolean =>
  imports.has("parley-rooms") && text.includes("createParley");

export const usesSocketIo = ({ imports }: Entry): boolean => imports.has("parley-rooms/socketio");

/** Whether the code mentions an option of createParley, or a name in that place. */
export const hasOption = ({ text }: Entry, option: "authenticate" | "bindings" | "queues"): boolean =>
  new RegExp(`createParley[^]*?\\b${option}\\b`).test(text);

/** Whether the Worker takes batches of queues: `queue: parley.queue`, a function `queue`, or a Worker that is the chat alone. */
export const takesQueues = ({ text }: Entry): boolean =>
  /\bqueue\b|\bhandleQueue\b/.test(text) || /^var \w+_default = createParley\(/m.test(text);
