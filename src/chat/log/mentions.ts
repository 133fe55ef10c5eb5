// Finds the users mentioned in a message: `@user` in its content. Readers derive mentions; they are not stored (MSG-8).
import type { Message } from "../../protocol/chat-events.ts";

/** Users that one message mentions; more are not looked at. */
export const MENTIONS_MAX = 20;

/** Text between backticks is a quotation and mentions no user. */
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/**
 * `@` at the beginning of a word, so that neither e-mail addresses nor URLs count, and then a plain id, which ends in a letter,
 * digit or underscore, or any id in angle brackets.
 */
const MENTION =
  /(?<![\p{L}\p{N}_.+\-/@:=&?#%~])@(?:<([^<>\n]{1,128})>|([\p{L}\p{N}_](?:[\p{L}\p{N}_.|:~+-]{0,126}[\p{L}\p{N}_])?))/gu;

/** User ids, each once, in the order of the text. They need not exist. */
export function mentionsIn(content: string): string[] {
  if (!content.includes("@")) return [];
  const users = new Set<string>();
  for (const [, quoted, plain] of content.replace(CODE, " ").matchAll(MENTION)) {
    if (users.size === MENTIONS_MAX) break;
    users.add((quoted ?? plain)!);
  }
  return [...users];
}

/** The message, with the mentions that its content has and no others. */
export function withMentions(message: Message): Message {
  const mentions = mentionsIn(message.content);
  if (mentions.length > 0) return { ...message, mentions };
  if (!message.mentions) return message;
  const { mentions: _stale, ...rest } = message;
  return rest;
}
