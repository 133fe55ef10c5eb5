// Makes one POST to the operator's server; the body of the answer is not read. Called by consumer.ts.
import { NoAnswer, signedPost, type SignedServer } from "../../http/signed-post.ts";
import type { WebhookDelivery } from "../../protocol/webhook-events.ts";
import { VERSION } from "../../worker/version.ts";

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

export async function post(webhook: SignedServer, delivery: WebhookDelivery): Promise<Outcome> {
  try {
    const response = await signedPost(webhook, delivery, { msMax: ANSWER_MS_MAX, userAgent: `Parley/${VERSION}` });
    await response.body?.cancel();
    return outcomeOf(response);
  } catch (error) {
    return { ok: false, isFinal: false, reason: error instanceof NoAnswer ? error.message : "not reachable" };
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
