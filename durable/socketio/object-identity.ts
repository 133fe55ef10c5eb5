// Makes the ids of sessions, and spreads the pings of objects. Called by socket-object.ts.
import { base64url } from "jose";

/** Random bytes of an id: 20 characters of base64url, the length that Engine.IO's own ids have. */
const ID_BYTES = 15;

/** From the object's own id, which is as good as random and never changes. */
export function phaseOf(id: DurableObjectId): number {
  return Number.parseInt(id.toString().slice(0, 8), 16) / 2 ** 32;
}

export const newId = (): string => base64url.encode(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
