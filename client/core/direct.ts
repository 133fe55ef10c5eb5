// Opens a conversation between two people by HTTP, and connects to its room. client.ts exports it to applications.
import type { ConnectOptions, DirectError, Room } from "./api.ts";
import { callApi } from "./api-call.ts";
import type { FeatureEvents } from "./feature-events.ts";
import { baseOf } from "./base.ts";
import { errorOf } from "./files.ts";
import { connectRoom } from "./room.ts";

/**
 * Opens the room between the token's user and another one, and connects to it. Rejects with a `DirectError` where the server
 * refuses, or cannot be reached, and with a `RangeError` for an address that is none.
 * @param url the chat's address
 * @param user the other one's id
 */
export async function connectDirect<Own extends FeatureEvents = FeatureEvents>(
  url: string,
  user: string,
  options: ConnectOptions = {},
): Promise<Room<Own>> {
  const base = baseOf(url);
  const answer = await callApi<{ readonly room: string }>(base, "dms", { token: options.token, body: { user } });
  if ("error" in answer) throw errorOf(answer.error) satisfies DirectError;
  return connectRoom<Own>(base, answer.room, options);
}
