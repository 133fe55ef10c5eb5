// The canonical form of a reaction: the same for all ways to write one emoji. Called by the schema of `react`, by the reader of stored
// reactions, and by clients that compare reactions.

/** The name of an emoji that the client draws, such as `:party:`. */
const NAME = /^[\w:+-]*$/;
const PRESENTATION = /[\uFE0E\uFE0F]/g;
/** An emoji that is drawn as text unless U+FE0F or a skin tone follows. */
const TEXT_BY_DEFAULT = /(?!\p{Emoji_Presentation})\p{Emoji}(?!\p{Emoji_Modifier})/gu;

/**
 * Unicode's fully qualified form (UTS 51): U+FE0F after each emoji that needs it, and nowhere else. Skin tones, hair and genders are other
 * emoji and stay.
 */
export function canonicalEmoji(emoji: string): string {
  if (NAME.test(emoji)) return emoji;
  return emoji.replaceAll(PRESENTATION, "").replaceAll(TEXT_BY_DEFAULT, "$&\uFE0F");
}
