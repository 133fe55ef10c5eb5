// Whether a text is the origin of a page. Called for settings, and for options of `connect`.

/** Addresses with these schemes are no pages that could connect. */
const NO_PAGES = /^(wss?|ftp|file|blob|data|javascript):/;

/** As browsers write it; also that of a page in a native shell (`capacitor://localhost`) or an extension, whose scheme is the shell's own. */
export function isOrigin(value: string): boolean {
  // Not `URL.parse`, which the oldest Node that the commands take does not have.
  if (!URL.canParse(value)) return false;
  const { protocol, host } = new URL(value);
  return host !== "" && value === `${protocol}//${host}` && !NO_PAGES.test(value);
}
