// Compares two secrets. Called by recovery.ts for the ids of sessions, and by the chat for signatures of files.

/** Takes the same time however much is equal, so that nobody can guess a secret character by character. */
export function isSameSecret(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let at = 0; at < secret.length; at++) difference |= given.charCodeAt(at) ^ secret.charCodeAt(at);
  return difference === 0;
}
