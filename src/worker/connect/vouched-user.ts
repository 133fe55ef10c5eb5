// Reads the user whom an application's `authenticate` has named: foreign code's output, which the object takes for granted. Called by
// connect.ts.

/** Fields besides these reach the namespaces as they are, where they can be written as JSON. */
export interface VouchedUser {
  /** User id, 1 to 128 characters. */
  readonly user: string;
  /** Display name, at most 128 characters. Default: the user id. */
  readonly name?: string | null | undefined;
  /** When the connection has to be opened again, in seconds since 1970. Default: never. */
  readonly exp?: number | undefined;
  /** Names of rooms, or prefixes ending in `*`. Default: every room. */
  readonly rooms?: readonly string[] | undefined;
}

const CHARS_MAX = 128;

/** Characters of the user as JSON: they travel in a header, and are kept with each connection. */
const JSON_CHARS_MAX = 4096;

export function readUser(given: unknown): VouchedUser & { readonly name: string } {
  if (typeof given !== "object" || given === null) throw notAUser(`it must be an object, not ${typeof given}`);
  const { user, name: text, exp, rooms } = given as Readonly<Record<string, unknown>>;
  const name = text ?? user;
  checkText("user", user, 1);
  checkText("name", name, 0);
  // A moment of today in milliseconds would be a session for ever.
  if (exp !== undefined && !(typeof exp === "number" && exp < 1e12))
    throw notAUser("exp: must be in seconds since 1970");
  if (rooms !== undefined && !(Array.isArray(rooms) && rooms.every((rule) => typeof rule === "string")))
    throw notAUser("rooms: must be a list of texts");
  const json = JSON.stringify({ ...(given as VouchedUser), user, name, exp });
  if (json.length > JSON_CHARS_MAX) throw notAUser(`at most ${JSON_CHARS_MAX} characters as JSON`);
  return JSON.parse(json) as VouchedUser & { readonly name: string };
}

function checkText(field: string, value: unknown, min: number): void {
  if (typeof value === "string" && value.length >= min && value.length <= CHARS_MAX) return;
  throw notAUser(`${field}: must be a text of ${min} to ${CHARS_MAX} characters`);
}

function notAUser(problem: string): Error {
  return new Error(`authenticate gave no user: ${problem}`);
}
