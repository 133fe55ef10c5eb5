// A conversation between two people: opened by HTTP, and held as any room is.
import type { TokenCode } from "../../src/protocol/failures.ts";
import type { ConnectOptions, DirectError, Room } from "./api.ts";
import { connectRoom } from "./room.ts";

/**
 * Opens the room between the token's user and another one, and connects to it. Rejects where the server says no, or cannot be
 * reached: a `DirectError`.
 * @param user the other one's id
 */
export async function connectDirect(origin: string, user: string, options: ConnectOptions): Promise<Room> {
  const answer = await open(origin, user, options);
  const code = answer.status === 401 ? await codeOf(answer) : undefined;
  const isWorthAnother = code !== undefined && typeof options.token === "function";
  const last = isWorthAnother ? await open(origin, user, options, code as TokenCode) : answer;
  if (!last.ok) throw await errorOf(last, code);
  const { room } = (await last.json()) as { readonly room: string };
  return connectRoom(origin, room, options);
}

async function open(origin: string, user: string, { token }: ConnectOptions, refused?: TokenCode): Promise<Response> {
  const bearer = typeof token === "string" ? token : await token(refused);
  try {
    return await fetch(new URL("/api/dms", origin), {
      method: "POST",
      headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" },
      body: JSON.stringify({ user }),
    });
  } catch {
    throw directError({ code: "NO_ANSWER", message: "The server could not be reached." });
  }
}

type Failure = Pick<DirectError, "code" | "message" | "retryAfterMs">;

async function codeOf(response: Response): Promise<string> {
  return (await failureOf(response)).code;
}

async function failureOf(response: Response): Promise<Failure> {
  const failure: Failure = { code: "INTERNAL", message: `The server answered ${response.status}.` };
  return response.json().then(
    (body: { error?: Failure }) => body.error ?? failure,
    () => failure,
  );
}

/** @param code where its body was read already */
async function errorOf(response: Response, code: string | undefined): Promise<DirectError> {
  if (!response.bodyUsed) return directError(await failureOf(response));
  return directError({ code: code!, message: "The token was not accepted." });
}

const directError = ({ message, ...failure }: Failure): DirectError => Object.assign(new Error(message), failure);
