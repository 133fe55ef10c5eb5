// Makes ids that cannot be guessed, for sessions, sockets, logs and calls. Called by the classes of objects and their parts.

/** 20 characters of base64url, as long as the ids of Engine.IO on Node. */
const ID_BYTES = 15;

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
