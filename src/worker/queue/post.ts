// Makes one POST to the operator's server. The address is the operator's own setting and may lead anywhere, also into an internal network;
// redirects are not followed and the body of the answer is not read. Called by webhooks.ts.
import type { WebhookDelivery } from "../../protocol/webhook-events.ts";
import { VERSION } from "../version.ts";

/** The operator's server that receives the events of all rooms. */
export interface Webhook {
  readonly url: string;
  /** Signs the requests. */
  readonly secret: string;
}

/** The receiver has to answer within this time. */
const ANSWER_MS_MAX = 10_000;

export type Outcome =
  | { readonly ok: true }
  /** `reason` contains nothing secret. */
  | {
      readonly ok: false;
      readonly reason: string;
      readonly isFinal: boolean;
      /** As the receiver asked, in seconds. */
      readonly retryAfterSeconds?: number;
    };

/**
 * HOOK-9: a receiver that answers with one of these would do so again. Refusals for the address or the keys (401, 403, 404, …) are not
 * among them: the operator can correct those.
 */
const FINAL: ReadonlySet<number> = new Set([400, 410, 413, 415, 422]);

export async function post({ url, secret }: Webhook, delivery: WebhookDelivery): Promise<Outcome> {
  const body = JSON.stringify(delivery);
  const timestamp = Math.floor(Date.now() / 1000);
  const { address, authorization } = addressOf(url);
  try {
    const response = await fetch(address, {
      method: "POST",
      body,
      headers: {
        "Content-Type": "application/json",
        "User-Agent": `Parley/${VERSION}`,
        "Parley-Timestamp": String(timestamp),
        "Parley-Signature": await sign(secret, timestamp, body),
        "Parley-Delivery": crypto.randomUUID(),
        ...(authorization && { Authorization: authorization }),
      },
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.body?.cancel();
    return outcomeOf(response);
  } catch (error) {
    // The error's own message may contain the address.
    const isLate = error instanceof Error && error.name === "TimeoutError";
    return { ok: false, isFinal: false, reason: isLate ? `no answer within ${ANSWER_MS_MAX} ms` : "not reachable" };
  }
}

function outcomeOf({ ok, status, headers }: Response): Outcome {
  if (ok) return { ok };
  const retryAfterSeconds = secondsOf(headers.get("Retry-After"));
  return {
    ok: false,
    reason: `answered ${status}`,
    isFinal: FINAL.has(status),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** A `Retry-After` header: seconds, or a date. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
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
