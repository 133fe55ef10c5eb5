// Calls the HTTP API of a chat as the user whom a token names. Called by direct.ts and own-rooms.ts.
import { isAboutToken, type TokenCode } from "../../src/protocol/failures.ts";
import type { SendFailure, Token } from "./api.ts";

export type ApiAnswer<Good extends object> = ({ readonly ok: true } & Good) | { readonly error: SendFailure };

interface ApiRequest {
  readonly token: Token | undefined;
  /** Sent as JSON, with POST. */
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/**
 * Asks again with another token where the first one is refused. Never rejects: `NO_ANSWER` stands for what the token function throws, and for
 * the end of the signal, too.
 * @param path behind `/api/`
 */
export async function callApi<Good extends object>(
  base: string,
  path: string,
  request: ApiRequest,
): Promise<ApiAnswer<Good>> {
  const answer = await ask<Good>(`${base}/api/${path}`, request);
  const code = "error" in answer ? answer.error.code : "";
  if (!isAboutToken(code) || typeof request.token !== "function") return answer;
  return ask(`${base}/api/${path}`, request, code);
}

async function ask<Good extends object>(
  address: string,
  { token, body, signal }: ApiRequest,
  refused?: TokenCode,
): Promise<ApiAnswer<Good>> {
  let unreached: string | undefined;
  try {
    const bearer = typeof token === "function" ? await token(refused) : token;
    unreached = "The server could not be reached.";
    const response = await fetch(address, {
      headers: {
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const answer = (await response.json().catch(() => ({}))) as Partial<ApiAnswer<Good>>;
    if ((response.ok && "ok" in answer) || "error" in answer) return answer as ApiAnswer<Good>;
    return { error: { code: "INTERNAL", message: `The server answered ${response.status}.` } };
  } catch (error) {
    return { error: { code: "NO_ANSWER", message: unreached ?? `There is no token: ${String(error)}` } };
  }
}
