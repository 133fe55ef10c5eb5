// Reads the user, name, role and rooms from the payload of a verified token, by the claims that the settings name (TOK-6). Called by
// TokenVerifier; the HTTP API uses the same schemas of user ids and names.
import * as z from "zod/mini";

import type { Role } from "../../protocol/chat-events.ts";
import { readAs } from "../../protocol/input.ts";
import { ROLES } from "../../protocol/roles.ts";
import { isVisible } from "../../protocol/message.ts";
import { NAME_LENGTH_MAX, USER_LENGTH_MAX } from "../../protocol/limits.ts";

/** Rooms that one token may list. */
export const ROOMS_MAX = 100;

/** Names, or dotted paths, of the claims that identify a user. */
export interface ClaimNames {
  readonly user: string;
  readonly name: string;
  readonly role: string;
  readonly rooms: string;
}

/** The claims of tokens that this server signs. */
export const CLAIM_NAMES: ClaimNames = { user: "sub", name: "name", role: "role", rooms: "rooms" };

/** Control characters (C0, DEL, C1) have no place in a name that others see. */
// oxlint-disable-next-line eslint/no-control-regex -- written so that other languages' tools can read it, too
const PRINTABLE = /^[^\u0000-\u001F\u007F-\u009F]*$/;

/** Seconds since 1970: some 30,000 years. A moment of today in milliseconds is more, and would be a session for ever. */
const EXP_MAX = 1e12;

export const userSchema = z.string("is required").check(
  z.minLength(1, "is required"),
  z.maxLength(USER_LENGTH_MAX, `at most ${USER_LENGTH_MAX} characters`),
  z.regex(PRINTABLE, "control characters are not allowed"),
  // As much of it as may stand for a name.
  z.refine((text) => text === "" || isVisible(cut(text)), "nothing in it can be seen"),
);

const isBlankOrVisible = (text: string): boolean => text.trim() === "" || isVisible(text);

const nameOf = (text: z.ZodMiniString<string>) =>
  text.check(
    z.maxLength(NAME_LENGTH_MAX, `at most ${NAME_LENGTH_MAX} characters`),
    z.regex(PRINTABLE, "control characters are not allowed"),
    z.refine(isBlankOrVisible, "nothing in it can be seen"),
  );

export const nameSchema = nameOf(z.string());

/** A name as a person typed it: spaces around it do not count for its length. */
export const typedNameSchema = nameOf(z.string().check(z.trim()));

/** Claims as they are taken from a token, or from the code that knows users by other means. */
export const claimsSchema = z.object({
  user: userSchema,
  // Providers pass names on as users typed them: one that is too long is no reason to keep its bearer out.
  name: z.nullish(
    z.string().check(
      z.regex(PRINTABLE, "control characters are not allowed"),
      z.refine((text) => isBlankOrVisible(cut(text.trim())), "nothing in it can be seen"),
    ),
  ),
  rooms: z.optional(
    z.array(z.string().check(z.maxLength(65))).check(z.maxLength(ROOMS_MAX, `at most ${ROOMS_MAX} rooms`)),
  ),
  exp: z.optional(z.number().check(z.minimum(0), z.maximum(EXP_MAX, "must be in seconds since 1970"))),
});

export interface Claims {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
  readonly rooms?: readonly string[];
  readonly exp?: number;
}

/** @returns the user, or the problem of a claim */
export function readClaims(payload: unknown, names: ClaimNames): Claims | { readonly problem: string } {
  const given = {
    user: claimAt(payload, names.user),
    name: claimAt(payload, names.name),
    rooms: claimAt(payload, names.rooms),
    exp: claimAt(payload, "exp"),
  };
  const read = readAs(claimsSchema, given);
  if (!read.success) {
    const [issue] = read.error.issues;
    const [claim, ...within] = issue?.path ?? [];
    const name = names[claim as keyof ClaimNames] ?? claim;
    return { problem: `The token's claim ${[name, ...within].join(".")}: ${issue?.message}` };
  }
  const { user, name, rooms, exp } = read.data;
  return {
    user,
    name: displayName(user, name),
    role: roleOf(claimAt(payload, names.role)),
    ...(rooms && { rooms }),
    ...(exp !== undefined && { exp }),
  };
}

/** The claim of that very name, or else the value at that path; names that are URLs have dots, too. */
function claimAt(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, name)) return (value as Record<string, unknown>)[name];
  const dot = name.indexOf(".");
  return dot < 0 ? undefined : claimAt(claimAt(value, name.slice(0, dot)), name.slice(dot + 1));
}

/** Of several roles the one that may do most counts. Providers have others, as `authenticated`: a user without one of ours is a member. */
function roleOf(claim: unknown): Role {
  const given: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return ROLES.find((role) => given.includes(role)) ?? "member";
}

/** The name a user goes by: as much as a name may have of the one that was given, or else of the user id. */
export function displayName(user: string, name?: string | null): string {
  return cut(name?.trim() || user);
}

/** Between characters, not within one. */
function cut(text: string): string {
  let name = "";
  for (const character of text) {
    if (name.length + character.length > NAME_LENGTH_MAX) return name.trimEnd();
    name += character;
  }
  return name;
}
