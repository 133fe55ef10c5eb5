// Opens a conversation between two people by HTTP, and connects to its room. client.ts exports it to applications.
import { isAboutToken, type TokenCode } from "../../src/protocol/failures.ts";
import type { ConnectOptions, DirectError, Room, Token } from "./api.ts";
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
  const { token } = options;
  const base = baseOf(url);
  let answer = await open(base, user, token);
  if ("code" in answer && isAboutToken(answer.code) && typeof token === "function")
    answer = await open(base, user, token, answer.code);
  if ("room" in answer) return connectRoom<Own>(base, answer.room, options);
  throw errorOf(answer) satisfies DirectError;
}

type Failure = Pick<DirectError, "code" | "message" | "retryAfterMs">;

async function open(
  base: string,
  user: string,
  token: Token | undefined,
  refused?: TokenCode,
): Promise<{ readonly room: string } | Failure> {
  const bearer = typeof token === "function" ? await token(refused) : token;
  try {
    const response = await fetch(`${base}/api/dms`, {
      method: "POST",
      headers: {
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ user }),
    });
    const body = (await response.json().catch(() => ({}))) as { readonly room?: string; readonly error?: Failure };
    if (response.ok && body.room !== undefined) return { room: body.room };
    return body.error ?? { code: "INTERNAL", message: `The server answered ${response.status}.` };
  } catch {
    return { code: "NO_ANSWER", message: "The server could not be reached." };
  }
}
