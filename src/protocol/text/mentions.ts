// Mentions in a message's text: `@user` (MSG-8). The room derives `mentions` from the text, the page draws and writes them; this is the only
// place that says where one begins and ends. In the field of the page a mention is a name, in the room it is an id.
import type { Message } from "../chat-events.ts";
import { characterAt, characterBefore, isUnspaced, isWord, UNSPACED } from "./characters.ts";
import { withoutAddresses } from "./links.ts";

/** Users that one message mentions; more are not looked at. */
export const MENTIONS_MAX = 20;

/** Input methods of wide characters write the second one. */
const AT = /[@＠]/;

/** Text between backticks is a quotation and mentions no user. */
const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/g;

const LETTER = String.raw`\p{L}\p{N}\p{Mn}\p{Mc}_`;
/** Stand between the parts of a plain id. */
const JOINER = "[.|:~+-]";

/** Any id in angle brackets; or a plain id, which ends in a letter, a digit, a mark or an underscore. */
const WRITTEN = new RegExp(
  String.raw`[@＠](?:<([^<>\n]{1,128})>|([\p{L}\p{N}_](?:[${LETTER}.|:~+-]{0,126}[${LETTER}])?))`,
  "uy",
);
/**
 * Inside a plain id: a sentence in a script without spaces goes on there, as in `@adaさん` and `@ada:你好`; and behind a name in such a script
 * punctuation is no part of it, as in `@小明:ok`.
 */
const SCRIPT_CHANGE = new RegExp(
  String.raw`(?<=(?![${UNSPACED}_])[${LETTER}])(?=${JOINER}*[${UNSPACED}])|(?<=[${UNSPACED}])(?=${JOINER})`,
  "u",
);
/** `example.com` */
const DOMAIN = /\.\p{L}{2,}$/u;
const ASCII = /^[\0-\x7f]*$/;

/** A mention in the room's text, and the UTF-16 positions of its begin and end. */
export interface Mention {
  readonly user: string;
  readonly from: number;
  readonly to: number;
}

/** All mentions in the room's text, in order. The users need not exist. */
export function mentionPlaces(content: string): Mention[] {
  if (!AT.test(content)) return [];
  const texts = textsOf(content);
  const places: Mention[] = [];
  for (let at = nextAt(texts, 0); at >= 0; at = nextAt(texts, Math.max(at + 1, places.at(-1)?.to ?? 0))) {
    const mention = mentionAt(texts, at);
    if (mention) places.push(mention);
  }
  return places;
}

/** User ids, each once, in the order of the text, `MENTIONS_MAX` at most. */
export function mentionsIn(content: string): string[] {
  return [...new Set(mentionPlaces(content).map(({ user }) => user))].slice(0, MENTIONS_MAX);
}

/** The message, with the mentions that its content has and no others. */
export function withMentions(message: Message): Message {
  const mentions = mentionsIn(message.content);
  if (mentions.length > 0) return { ...message, mentions };
  if (!message.mentions) return message;
  const { mentions: _stale, ...rest } = message;
  return rest;
}

/** A text with line feeds in place of what mentions nobody, so that places in it stay. */
interface Texts {
  /** Without code: an id in angle brackets may be an address. */
  readonly text: string;
  /** Without addresses, too. */
  readonly prose: string;
}

function textsOf(content: string): Texts {
  const text = content.replaceAll(CODE, (code) => "\n".repeat(code.length));
  return { text, prose: withoutAddresses(text) };
}

function nextAt({ prose }: Texts, from: number): number {
  const next = new RegExp(AT, "g");
  next.lastIndex = from;
  return next.exec(prose)?.index ?? -1;
}

function mentionAt({ text, prose }: Texts, from: number): Mention | undefined {
  const pattern = new RegExp(WRITTEN);
  pattern.lastIndex = from;
  const [, quoted, plain = ""] = pattern.exec(text) ?? [];
  if (!mayBegin(prose, from, plain)) return undefined;
  if (quoted !== undefined) return { user: quoted, from, to: from + quoted.length + 3 };
  const end = plain.search(SCRIPT_CHANGE);
  const whole = end < 0 ? plain : plain.slice(0, end);
  // `_@ada_` is emphasis.
  const user = prose[from - 1] === "_" ? whole.replace(/_{1,128}$/, "") : whole;
  return user === "" ? undefined : { user, from, to: from + user.length + 1 };
}

/**
 * Whether the `@` at this place begins a mention: neither in a word nor in a mail address. Scripts without spaces may stand before it.
 * @param id the plain text after it
 */
function mayBegin(text: string, at: number, id: string): boolean {
  const before = characterBefore(text, at);
  const wordBefore = (place: number): boolean => isWord(characterBefore(text, place));
  if (AT.test(before)) return false;
  // Emphasis begins before it.
  if (before === "_") return !wordBefore(at - 1);
  if (isUnspaced(before)) return ASCII.test(id) || !DOMAIN.test(id);
  if (isWord(before)) return false;
  return !(/[+\-/=&#%~]/.test(before) && wordBefore(at - 1) && DOMAIN.test(id));
}

/** The open mention in a field: an `@` and the text after it up to the caret. */
export interface OpenMention {
  /** Where the `@` is. */
  readonly from: number;
  readonly query: string;
}

const QUERY = new RegExp(String.raw`^[${LETTER}.'’\-\u200C\u200D]{0,40}$`, "u");

export function openMentionIn(text: string, caret: number): OpenMention | undefined {
  const before = text.slice(0, caret);
  const from = Math.max(before.lastIndexOf("@"), before.lastIndexOf("＠"));
  const query = before.slice(from + 1);
  if (from < 0 || !QUERY.test(query)) return undefined;
  const { prose } = textsOf(before);
  return AT.test(prose[from]!) && mayBegin(prose, from, query) ? { from, query } : undefined;
}

/** Converts the text of the field to that of the room. @param labels users by their labels in the field */
export function withIds(text: string, labels: ReadonlyMap<string, string>): string {
  if (!AT.test(text)) return text;
  const texts = textsOf(text);
  const users = new Set(labels.values());
  // Of two names, one may begin with the other.
  const longestFirst = [...labels.keys()].toSorted((a, b) => b.length - a.length);
  let [written, done] = ["", 0];
  for (let at = nextAt(texts, 0); at >= 0; at = nextAt(texts, Math.max(at + 1, done))) {
    const label = mayBegin(texts.prose, at, "") ? labelAt(texts, at, longestFirst, users) : "";
    if (label === "") continue;
    const end = at + 1 + label.length;
    written += text.slice(done, at) + mentionOf(labels.get(label)!, text.slice(end, end + USER_END_MAX));
    done = end;
  }
  return written + text.slice(done);
}

/** A mention of a person whose label is known: the text in its place, and the UTF-16 positions of its begin and end. */
export type Labelled = readonly [text: string, from: number, to: number];

/** The mentions in the room's text of people whose labels are known, in order. */
export function labelledIn(content: string, labelOf: (user: string) => string | undefined): Labelled[] {
  return mentionPlaces(content).flatMap(({ user, from, to }): Labelled[] => {
    const label = labelOf(user);
    return label !== undefined && endsLabel(label, content, to) ? [[`@${label}`, from, to]] : [];
  });
}

/** Converts the room's text to the field's. */
export function relabelled(content: string, mentions: readonly Labelled[]): string {
  let [text, at] = ["", 0];
  for (const [label, from, to] of mentions) {
    text += content.slice(at, from) + label;
    at = to;
  }
  return text + content.slice(at);
}

/** The longest whole label at this `@`; empty where there is none, or where a user's id stands. */
function labelAt(texts: Texts, at: number, longestFirst: readonly string[], users: ReadonlySet<string>): string {
  const { text } = texts;
  const isHere = (label: string): boolean =>
    text.startsWith(label, at + 1) && endsLabel(label, text, at + 1 + label.length);
  const label = longestFirst.find(isHere) ?? "";
  const { user = "" } = mentionAt(texts, at) ?? {};
  return users.has(user) && user.length >= label.length ? "" : label;
}

/** Whether a name ends there: no word goes on, or one of another script, or of a script without spaces, as in `@田中さん`. */
function endsLabel(label: string, text: string, end: number): boolean {
  const next = characterAt(text, end);
  if (!isWord(next) || isUnspaced(next)) return true;
  if (next === "_") return !isWord(characterAt(text, end + 1));
  return /\p{L}/u.test(next) && isUnspaced(characterBefore(label, label.length));
}

/** Characters after a mention that decide whether its id needs brackets. */
const USER_END_MAX = 128;

/** @param rest the text after the mention */
export function mentionOf(user: string, rest: string): string {
  const plain = `@${user}`;
  const text = plain + rest;
  const isPlain = mentionAt({ text, prose: text }, 0)?.to === plain.length && !isWord(characterAt(rest, 0));
  return isPlain ? plain : `@<${user}>`;
}
