// Finds addresses in prose of any script. Called by the page's parser of a message's text, by the rule of mentions, and by applications. An
// address begins with `http://`, `https://` or `www.`, in upper or lower case, or is a mail address.
import { characterBefore, isUnspaced, UNSPACED } from "./characters.ts";

/** An address in a text: its UTF-16 positions, and what a browser makes of it. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly href: string;
}

/** Every runtime has it; the types of this folder are those of the language alone. */
declare const URL: new (address: string) => { readonly href: string };

const BEGIN = /https?:\/\/|www\.|@/gi;
/** A separator and the next address of a list. */
const NEXT_ADDRESS = /^[,;'](?:https?:\/\/|www\.)/i;
/** Characters before `https` that make another word or scheme of it. */
const SCHEME_GOES_ON = /[A-Za-z0-9]/;
/** Those before `www.` and before a mail address that make a part of something longer of it. */
const NAME_GOES_ON = /[A-Za-z0-9.@%/-]/;
/** A host with a dot in it, and no name before it that looks like one. */
const WWW = /^www\.[^./?#:@]+\.[^./?#@][^/?#@]*(?:[/?#]|$)/i;

/** Characters of a name and a password, a host and a port. A longer one is no address, so that each attempt to read one is short. */
const HOST_LENGTH_MAX = 320;

/** Punctuation beyond ASCII that joins words: the middle dots of Catalan and Japanese, hyphens and the en dash, ties. */
const JOINERS = "\u00B7\u2010-\u2013\u203F\u2040\u30FB";
/**
 * Characters that end an address wherever they stand: spaces, controls, ASCII that no address has, and the brackets, quotes, punctuation
 * and symbols of all scripts. ZWNJ and ZWJ stay, because words of some scripts need them.
 */
const STOP = new RegExp(
  String.raw`[\s\p{Cc}<>"\x60\\^{|}]|(?![\u200C\u200D])\p{Cf}|(?![!-~${JOINERS}])[\p{P}\p{S}]`,
  "u",
);
/** Punctuation that belongs to the sentence if it stands at the end; so does a bracket that nothing closes. */
const SENTENCE = new RegExp(`[.,;:!?'([${JOINERS}]`);
const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[" };

/** A letter of a script without spaces, or one of the wide forms beside it. */
const isWide = (character: string): boolean => isUnspaced(character) || /[\uFF00-\uFFEF]/.test(character);
/** Particles are written in it, so it begins no part of a path. */
const HIRAGANA = /\p{sc=Hiragana}/u;
/** Begin a part of an address. */
const PART_BEGIN = /[/=&#\-_+~%@]/;

/** All addresses in the text, in order. The steps grow with its length. */
export function linksIn(text: string): Link[] {
  const links: Link[] = [];
  const begin = new RegExp(BEGIN);
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const { index } = match;
    const link =
      match[0] === "@" ? mailAt(text, index, links.at(-1)?.to ?? 0) : webAt(text, index, index + match[0].length);
    if (!link) continue;
    links.push(link);
    begin.lastIndex = link.to;
  }
  return links;
}

/** @param begun after the scheme or `www.` */
function webAt(text: string, from: number, begun: number): Link | undefined {
  const isBare = text[begun - 1] === ".";
  if (from > 0 && (isBare ? NAME_GOES_ON : SCHEME_GOES_ON).test(text[from - 1]!)) return undefined;
  const to = endOf(text, begun);
  if (to === undefined) return undefined;
  const address = text.slice(from, to);
  if (isBare && !WWW.test(address)) return undefined;
  const href = hrefOf(isBare ? `https://${address}` : address);
  return href === undefined ? undefined : { from, to, href };
}

/** A letter or a digit of a mail address: the sentence goes on around it in scripts without spaces. */
const MAIL_LETTER = String.raw`(?![${UNSPACED}])[\p{L}\p{N}]`;
const MAILBOX = new RegExp(String.raw`(?:mailto:)?(${MAIL_LETTER}(?:[._+-]*${MAIL_LETTER})*)$`, "iu");
/** Characters of a mailbox and of `mailto:`. */
const MAILBOX_LENGTH_MAX = 71;
const MAIL_HOST = new RegExp(
  String.raw`(?:${MAIL_LETTER}(?:${MAIL_LETTER}|-)*\.)+(?:(?![${UNSPACED}])\p{L}){2,}(?!${MAIL_LETTER}|@)`,
  "uy",
);

/** @param after the end of the address before, which is no part of this one */
function mailAt(text: string, at: number, after: number): Link | undefined {
  const host = new RegExp(MAIL_HOST);
  host.lastIndex = at + 1;
  const [domain] = host.exec(text) ?? [];
  if (domain === undefined) return undefined;
  const [written, mailbox] = MAILBOX.exec(text.slice(Math.max(after, at - MAILBOX_LENGTH_MAX), at)) ?? [];
  if (written === undefined) return undefined;
  const from = at - written.length;
  const href = NAME_GOES_ON.test(characterBefore(text, from)) ? undefined : hrefOf(`mailto:${mailbox}@${domain}`);
  return href === undefined ? undefined : { from, to: at + 1 + domain.length, href };
}

/** @param from after the scheme */
function endOf(text: string, from: number): number | undefined {
  const open: Record<string, number> = { "(": 0, "[": 0 };
  const part = new Part();
  let end = from;
  for (const character of text.slice(from)) {
    if (STOP.test(character) || (",;'".includes(character) && NEXT_ADDRESS.test(text.slice(end, end + 9)))) break;
    if (character in open) open[character]! += 1;
    const opening = CLOSING[character];
    // It was opened before the address.
    if (opening !== undefined && open[opening]!-- === 0) break;
    const { isHost } = part;
    if (!part.takes(character)) break;
    // Before a long path is read that leads nowhere.
    if (isHost && !part.isHost && hrefOf(`https://${text.slice(from, end)}`) === undefined) return undefined;
    end += character.length;
    if (part.isHost && end - from > HOST_LENGTH_MAX) return undefined;
  }
  while (end > from && SENTENCE.test(text[end - 1]!)) end--;
  return end > from ? end : undefined;
}

/**
 * Scripts without spaces go on after an address: `https://a.example/xを見て`. So their letters belong to it only in parts that begin with
 * one: `https://ja.example/wiki/日本`, `https://日本語.example`.
 */
class Part {
  isHost = true;
  #before = "";
  #hasWide = false;

  takes(character: string): boolean {
    if (isWide(character)) {
      const isBegin = this.isHost ? /^[.@]?$/.test(this.#before) : PART_BEGIN.test(this.#before);
      if (!this.#hasWide && !(isBegin && (this.isHost || !HIRAGANA.test(character)))) return false;
      this.#hasWide = true;
    } else {
      this.isHost &&= !/[/?#]/.test(character);
      this.#hasWide &&= !(PART_BEGIN.test(character) || (this.isHost && character === "."));
    }
    this.#before = character;
    return true;
  }
}

function hrefOf(address: string): string | undefined {
  try {
    return new URL(address).href;
  } catch {
    return undefined;
  }
}

/** An address without a scheme: a host and a path. A profile in one, as in `social.example/@ada`, mentions nobody. */
const SCHEMELESS = new RegExp(
  String.raw`(?<![.@-]|(?![${UNSPACED}])[\p{L}\p{N}])(?:(?:(?![${UNSPACED}])[\p{L}\p{N}-])+\.)+\p{L}{2,}[/?#][\w\-.~/?#=&%+@]*`,
  "gu",
);

/** The text with each address, also one without a scheme, replaced by as many line feeds: places in it stay. */
export function withoutAddresses(text: string): string {
  let [rest, at] = ["", 0];
  for (const { from, to, href } of linksIn(text)) {
    // No `@` in or behind a mail address mentions anybody.
    if (href.startsWith("mailto:")) continue;
    rest += text.slice(at, from) + "\n".repeat(to - from);
    at = to;
  }
  return (rest + text.slice(at)).replaceAll(SCHEMELESS, (address) => "\n".repeat(address.length));
}
