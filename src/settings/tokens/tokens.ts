// Verifies and signs JSON Web Tokens by the settings. The Worker verifies tokens of upgrades, a room those of a CONNECT. Source: RFC 7519
// (JWT), RFC 8725 (best current practices).
import { SignJWT } from "jose";

import { RecentMap } from "../../clock/recent-map.ts";
import type { Authentication } from "../../protocol/identity.ts";
import { CLAIM_NAMES, readClaims, type ClaimNames } from "./claims.ts";
import type { KeySet } from "./key-set.ts";
import { SignatureVerifier, unauthorized, type Payload } from "./signatures.ts";
import { claimNamesOf, type Settings } from "../settings.ts";

/** So many good tokens are remembered. A new one takes the place of the one that was remembered first. */
const KNOWN_MAX = 5000;
/** Longer ones are not: the memory of an isolate is shared by many rooms. */
const KNOWN_LENGTH_MAX = 1000;
/** A signature may be written in many ways, with blanks for example: few of them are remembered. */
const CANONICAL = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A good token, and the keys that verified it. */
interface Known {
  readonly authentication: Extract<Authentication, { ok: true }>;
  readonly keys: object;
}

/** Verifies tokens against the keys of the settings, and reads their claims. */
export class TokenVerifier {
  readonly #settings: Settings;
  readonly #signatures: SignatureVerifier;
  /** By token. Many clients come back at once with tokens that were verified before: a tenth of the CPU time of their return. */
  readonly #known = new RecentMap<string, Known>(KNOWN_MAX);

  /** @param keySetOf the key set at an address */
  constructor(settings: Settings, keySetOf?: (url: string) => KeySet) {
    const { jwtPublicKey: publicKey, jwtJwksUrl: jwksUrl, jwtIssuer: issuer, jwtAudience: audience } = settings;
    this.#settings = settings;
    const keys = { secrets: secretsOf(settings), publicKey, jwksUrl, issuer, audience };
    this.#signatures = new SignatureVerifier(keys, keySetOf);
  }

  async verify(token: string): Promise<Authentication> {
    const keys = this.#signatures.freshKeys;
    const known = this.#known.get(token);
    if (known && known.keys === keys && Date.now() < endMs(known)) return known.authentication;
    const authentication = await this.#authenticate(token);
    if (authentication.ok && keys && token.length <= KNOWN_LENGTH_MAX && CANONICAL.test(token))
      this.#known.set(token, { authentication, keys });
    return authentication;
  }

  async #authenticate(token: string): Promise<Authentication> {
    const verified = await this.#signatures.verify(token);
    if (!verified.ok) return verified;
    const { payload, algorithm } = verified;
    const { guestRooms: rooms, allowUnexpiringTokens } = this.#settings;
    // This server itself signs the tokens of guests, also where other tokens come from a provider.
    const isGuest = algorithm === "HS256" && isGuestToken(payload);
    const claims = readClaims(payload, isGuest ? CLAIM_NAMES : claimNamesOf(this.#settings));
    if ("problem" in claims) return unauthorized(claims.problem);
    const { exp } = claims;
    if (exp === undefined && !allowUnexpiringTokens) return unauthorized("The token has no exp claim");
    // A guest's token that is older than GUEST_ROOMS names no rooms.
    return { ok: true, identity: isGuest ? { ...(rooms && { rooms }), ...claims, isGuest: true } : claims };
  }
}

/** In milliseconds since 1970. */
const endMs = ({ authentication }: Known): number => (authentication.identity.exp ?? Infinity) * 1000;

/** The secret that tokens are signed with, and the one before it while that is being rotated out. */
export function secretsOf({ jwtSecret, jwtSecretPrevious }: Settings): readonly string[] {
  return [jwtSecret, jwtSecretPrevious].filter((secret) => secret !== undefined);
}

/** The claims of a guest's token. `guest` alone is no mark: a backend that signs with the same secret may have a claim of that name. */
const GUEST_MARK = { guest: true, parley: "guest" } as const;

/** The user ids of guests whose tokens are of a release before the mark; they can be renewed for a month after their end. */
const UNMARKED_GUEST = /^guest-[0-9a-f]{16}$/;

/** Whether POST /api/guest signed the token with this payload, whose signature by a secret of this server is good. */
export const isGuestToken = ({ guest, parley, sub }: Payload): boolean =>
  guest === GUEST_MARK.guest && (parley === GUEST_MARK.parley || UNMARKED_GUEST.test(String(sub)));

interface TokenClaims {
  readonly user: string;
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  readonly rooms?: readonly string[] | undefined;
  /** Marks a visitor without an account, who may ask for another token of the same user (guest-tokens.ts). */
  readonly guest?: boolean;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /** The names under which the claims are written. A dotted path is written as one name. */
  readonly names?: ClaimNames;
}

/** Signs a token for the local secret. @param ttlSeconds how long it lives */
export function signToken(secret: string, claims: TokenClaims, ttlSeconds: number): Promise<string> {
  const { user, name, role, rooms, guest, issuer: iss, audience: aud, names = CLAIM_NAMES } = claims;
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    [names.user]: user,
    ...(name && { [names.name]: name }),
    ...(role && { [names.role]: role }),
    ...(rooms && { [names.rooms]: rooms }),
    ...(guest && GUEST_MARK),
    sub: user,
    iat,
    exp: iat + ttlSeconds,
    ...(iss && { iss }),
    ...(aud && { aud }),
  };
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret));
}
