// Posts JSON to a server of the operator's, signed (HOOK-7). The address may lead anywhere, also into an internal network, so redirects are not
// followed. Called for webhooks, and for rules of a room that another server decides (src/objects/by-http.ts).

export interface SignedServer {
  /** http or https; a user and a password in it travel as a header. */
  readonly url: string;
  /** Signs the requests. */
  readonly secret: string;
}

/** There is no answer. The message contains nothing secret. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/**
 * @param msMax the receiver has to answer within this time
 * @throws NoAnswer
 */
export async function signedPost(
  { url, secret }: SignedServer,
  content: object,
  { msMax, userAgent }: { readonly msMax: number; readonly userAgent: string },
): Promise<Response> {
  const body = JSON.stringify(content);
  const timestamp = Math.floor(Date.now() / 1000);
  const { address, authorization } = addressOf(url);
  // Not `AbortSignal.timeout`: that keeps a room awake, and billed, until the time is over, also when the answer has come.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), msMax);
  try {
    return await fetch(address, {
      method: "POST",
      body,
      headers: {
        "Content-Type": "application/json",
        "User-Agent": userAgent,
        "Parley-Timestamp": String(timestamp),
        "Parley-Signature": await sign(secret, timestamp, body),
        "Parley-Delivery": crypto.randomUUID(),
        ...(authorization && { Authorization: authorization }),
      },
      redirect: "manual",
      signal: late.signal,
    });
  } catch (error) {
    // The error's own message may contain the address.
    const isLate = error instanceof Error && error.name === "TimeoutError";
    throw new NoAnswer(isLate ? `no answer within ${msMax} ms` : "not reachable");
  } finally {
    clearTimeout(timer);
  }
}

/** HOOK-7. @returns the value of the header `Parley-Signature` */
async function sign(secret: string, timestampSeconds: number, body: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, bytes.encode(`${timestampSeconds}.${body}`));
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `v1=${hex}`;
}

/** Moves user and password from the address to a header. */
function addressOf(url: string): { address: URL; authorization?: string } {
  const address = new URL(url);
  const { username, password } = address;
  if (username === "" && password === "") return { address };
  address.username = "";
  address.password = "";
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { address, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}
