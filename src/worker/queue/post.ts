// One POST to the operator's server. The address is the operator's own setting, so it may lead anywhere, also to an
// internal network; what answers there can neither redirect us elsewhere nor be read by anybody.
import type { Webhook } from "../../settings/settings.ts";
import type { WebhookDelivery } from "../../protocol/webhook-events.ts";
import { VERSION } from "../version.ts";
import { sign } from "./signature.ts";

/** A receiver has so long to answer. */
const ANSWER_MS_MAX = 10_000;

export type Outcome =
  | { readonly ok: true }
  /** Why it failed, in words that name nothing secret. */
  | {
      readonly ok: false;
      readonly reason: string;
      readonly isFinal: boolean;
      /** What the receiver asked for, in seconds. */
      readonly retryAfterSeconds?: number;
    };

/**
 * HOOK-9: sent again as it is, these would be refused again. What is refused for the address or the keys (401, 403, 404, …)
 * is not among them: its operator can mend that meanwhile.
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
    // The error's own text may name the address.
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

/** User and password do not travel in an address, but in a header. */
function addressOf(url: string): { address: URL; authorization?: string } {
  const address = new URL(url);
  const { username, password } = address;
  if (username === "" && password === "") return { address };
  address.username = "";
  address.password = "";
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { address, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}
