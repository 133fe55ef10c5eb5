// The HTTP calls for link cards (CARD-1): what a page says of itself, and its picture. They ask no room, so none wakes.
import * as z from "zod/mini";

import { TokenBuckets } from "../../clock/rates.ts";
import { described, DESCRIPTIONS } from "../../protocol/schemas/described.ts";
import { linkCardSchema } from "../../protocol/schemas/link-card.ts";
import { logProblem } from "../../settings/log.ts";
import { EVERYONE } from "../../worker/api/access.ts";
import { answering, call, type ApiCall, type ApiRequest } from "../../worker/api/call.ts";
import { refuseForNow, refuseIssues, refuseRequest } from "../../worker/http/refusals.ts";
import { holderOf, HolderLimit } from "../../worker/http/holder-limit.ts";
import { ADDRESS_LENGTH_MAX, ADDRESS_RULE, publicAddress, type Address } from "./address.ts";
import { fetchCard, fetchPicture, WEB_MS_MAX, type Web } from "./http-web.ts";

/** CARD-5: how long the server caches an answer. */
const CARD_SECONDS = 3600;
const NO_CARD_SECONDS = 300;
const PICTURE_SECONDS = 86_400;
/** Of what this isolate cached last; older entries are deleted. The cache of `npm run serve` is on the disk, and deletes nothing by itself. */
export const CACHED_BYTES_MAX = 32 * 1024 * 1024;
/** That an entry takes besides its body and key. */
const ENTRY_BYTES = 4096;

/** CARD-6: addresses that are fetched for one user. */
export const FETCHES = { perSecond: 2, burst: 100 };
/** The same at a time: each takes its bytes in memory. */
export const FETCHES_AT_A_TIME = 10;
const TOO_MANY = "Rate limit exceeded: too many link cards.";
/** One of them is there by then. */
const RETRY_AFTER_MS = 1000;
/** So long a request waits for a fetch that another one began: the platform may have stopped that one. */
const WAIT_MS_MAX = WEB_MS_MAX + 1000;

const fetches = new TokenBuckets(FETCHES);
const atATime = new HolderLimit(FETCHES_AT_A_TIME);

/** An answer as it is cached: JSON, or the bytes of a picture, or nothing for an address without one. */
interface Answer {
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly seconds: number;
}

const JSON_TYPE = "application/json";
const NO_PICTURE: Answer = { type: "text/plain", body: "", seconds: NO_CARD_SECONDS };

/** By key of the cache. A link in a large room is fetched once, however many see it at the same moment (CARD-5). */
const underWay = new Map<string, { readonly making: Promise<Answer>; readonly beganAtMs: number }>();

/** Bytes of what this isolate has cached, by key, the oldest first. */
const kept = new Map<string, number>();
let keptBytes = 0;

type Asked = ApiRequest<{ readonly url: string }>;

const given = z.object({
  url: z.string().check(z.maxLength(ADDRESS_LENGTH_MAX)).apply(described, "The address, which has a public name"),
});

export const LINK_CARD_CALLS: readonly ApiCall[] = [
  call({
    id: "getLinkCard",
    method: "get",
    path: "/api/link-card",
    summary: "What a page says of itself",
    description:
      "Title, description, site and picture of the page at an address, by its Open Graph tags. Without `card` the address has none. " +
      "Answers are cached for an hour. Wakes no room.",
    roles: EVERYONE,
    given,
    answers: {
      200: { description: "The card", schema: answering(z.object({ card: z.optional(linkCardSchema) })) },
    },
    run: (asked) => answer(asked, "card", cardAnswer),
  }),
  call({
    id: "getLinkPicture",
    method: "get",
    path: "/api/link-card/picture",
    summary: "The picture of a page",
    description: "The bytes at `picture` of a link card. PNG, JPEG, GIF, WebP or AVIF, 2 MiB at most.",
    roles: EVERYONE,
    given,
    answers: {
      200: {
        description: "The picture",
        schema: z.string().register(DESCRIPTIONS, { format: "binary" }),
        contentType: "image/*",
      },
    },
    run: (asked) => answer(asked, "picture", pictureAnswer),
  }),
];

async function cardAnswer(address: Address, web: Web): Promise<Answer> {
  const card = await fetchCard(address, web);
  return {
    type: JSON_TYPE,
    body: JSON.stringify({ ok: true, ...(card && { card }) }),
    seconds: card ? CARD_SECONDS : NO_CARD_SECONDS,
  };
}

async function pictureAnswer(address: Address, web: Web): Promise<Answer> {
  const picture = await fetchPicture(address, web);
  return picture ? { type: picture.type, body: picture.bytes, seconds: PICTURE_SECONDS } : NO_PICTURE;
}

async function answer(
  asked: Asked,
  kind: "card" | "picture",
  make: (address: Address, web: Web) => Promise<Answer>,
): Promise<Response> {
  const { given, url, env, deployment } = asked;
  if (!deployment.settings.linkCards) return refuseRequest("FORBIDDEN", "Link cards are off here (LINK_CARDS)");
  const own = url.hostname;
  const address = publicAddress(given.url, own);
  if (!address) return refuseIssues([{ path: "url", message: ADDRESS_RULE }]);
  // The platform wants an address of this server; at this one there is nothing else.
  const key = `${url.origin}/.link-${kind}/${encodeURIComponent(address.href)}`;
  // It may be over when the cache, which was asked before, has answered.
  const found = find(key);
  const cached = await caches.default.match(key);
  if (cached) return respond(cached.headers.get("Content-Type")!, cached.body);
  const making = found ?? find(key) ?? begin(asked, key, () => make(address, { env, own }));
  if (making instanceof Response) return making;
  const made = await within(WAIT_MS_MAX, making);
  if (!made) return refuseForNow("UNAVAILABLE", "The page is still being fetched; try again", RETRY_AFTER_MS);
  return respond(made.type, made.body);
}

function find(key: string): Promise<Answer> | undefined {
  const found = underWay.get(key);
  return found && Date.now() - found.beganAtMs < WAIT_MS_MAX ? found.making : undefined;
}

/** @returns the refusal of a user who has too many fetched */
function begin({ request, identity }: Asked, key: string, make: () => Promise<Answer>): Promise<Answer> | Response {
  const holder = holderOf(request, identity);
  const beganAtMs = Date.now();
  const taking = fetches.take(holder, beganAtMs);
  if (!taking.ok) return refuseForNow("RATE_LIMITED", TOO_MANY, taking.retryAfterMs);
  const end = atATime.begin(holder);
  if (!end) return refuseForNow("RATE_LIMITED", TOO_MANY, RETRY_AFTER_MS);
  const making = makeAndCache(key, make).finally(() => {
    end();
    if (underWay.get(key)?.making === making) underWay.delete(key);
  });
  underWay.set(key, { making, beganAtMs });
  return making;
}

async function makeAndCache(key: string, make: () => Promise<Answer>): Promise<Answer> {
  const made = await make();
  const { type, body, seconds } = made;
  const headers = { "Content-Type": type, "Cache-Control": `public, max-age=${seconds}` };
  await keep(key, new Response(body, { headers }), ENTRY_BYTES + key.length + body.length).catch((error: unknown) =>
    logProblem("link-card.uncached", "a link card could not be cached", error),
  );
  return made;
}

async function keep(key: string, response: Response, bytes: number): Promise<void> {
  keptBytes += bytes - (kept.get(key) ?? 0);
  kept.delete(key);
  kept.set(key, bytes);
  await caches.default.put(key, response);
  for (const [oldest, itsBytes] of kept) {
    if (keptBytes <= CACHED_BYTES_MAX) break;
    keptBytes -= itsBytes;
    kept.delete(oldest);
    await caches.default.delete(oldest);
  }
}

function within<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  let stop = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    stop = () => clearTimeout(timer);
  });
  return Promise.race([value, late]).finally(stop);
}

/** As for uploaded files (FILE-3), no page of ours runs the bytes. */
function respond(type: string, body: BodyInit | null): Response {
  if (type === NO_PICTURE.type) return refuseRequest("NOT_FOUND", "There is no picture that can be shown");
  const seconds = type === JSON_TYPE ? NO_CARD_SECONDS : PICTURE_SECONDS;
  return new Response(body, {
    headers: {
      "Content-Type": type,
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Cache-Control": `private, max-age=${seconds}`,
      Vary: "Authorization",
    },
  });
}
