// Reads from the code of a Worker which parts of the package it uses. Called by the checks, and by create-parley.
import type { Entry } from "./entry.ts";

export const usesChat = ({ imports, text }: Entry): boolean =>
  imports.has("parley-rooms") && text.includes("createParley");

export const usesSocketIo = ({ imports }: Entry): boolean => imports.has("parley-rooms/socketio");

/** Whether it passes requests to objects of a Socket.IO application. */
export const usesConnect = ({ text }: Entry): boolean =>
  /\{[^}]*\bconnect\b[^}]*\}\s*from\s*["']parley-rooms\/socketio["']/.test(text);

/** Whether the code mentions an option of createParley, or a name in that place. */
export const hasOption = ({ text }: Entry, option: "authenticate" | "bindings" | "queues"): boolean =>
  new RegExp(`createParley[^]*?\\b${option}\\b`).test(text);

/** Whether the default export is the chat's. */
export const isChatAlone = ({ text }: Entry): boolean =>
  /^(?:var \w+_default =|export default) createParley\(/m.test(text);

/** Whether the Worker takes batches of queues: `queue: parley.queue`, a function `queue`, or a Worker that is the chat alone. */
export const takesQueues = (entry: Entry): boolean =>
  /\bqueue\b|\bhandleQueue\b/.test(entry.text) || isChatAlone(entry);

/** Whether the code has a class of that name that extends no class which could be the package's. What a function gives it, cannot be seen. */
export function declaresOther(code: string, name: string): boolean {
  const declared = new RegExp(`\\b(?:class\\s+${name}|var ${name} = class(?: (?!extends\\b)\\w+)?)\\b([^{]*)\\{`).exec(
    code,
  );
  return declared !== null && !/\bextends\s+(?!DurableObject\d*\b)/.test(declared[1]!);
}

/** Names in a list of imports or exports: `A, B as C` has A, under the name A, and B, under C. */
const LISTED = /(\w+)(?:\s+as\s+(\w+))?/g;

/** Classes of objects that keep rooms, by their names in the Worker: those of the package, and classes that extend them. */
export function roomClasses({ text }: Entry): Set<string> {
  const lists = [...text.matchAll(/(?:import|export)\s*\{([^}]*)\}\s*from "parley-rooms(?:\/socketio)?"/g)];
  const names = new Set(lists.flatMap(([, list]) => [...list!.matchAll(LISTED)].map(([, name, own]) => own ?? name!)));
  const extending = [...text.matchAll(/\b(\w+)(?: = class(?: \w+)?)? extends (\w+)/g)];
  // A class stands behind the one that it extends.
  for (const [, name, base] of extending) if (names.has(base!)) names.add(name!);
  return names;
}
