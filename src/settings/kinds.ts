// The kinds of values that a setting may have: how the text of a variable becomes a value, and the error for a bad text. Used by declared.ts. The
// names of the kinds in docs/settings.md stand in scripts/settings-page.ts.
import * as z from "zod/mini";

import { isOrigin } from "../http/origin.ts";
import { isRoomName } from "../protocol/room-name.ts";
import { isPublicKey } from "./public-key-form.ts";
import { ROOMS_MAX } from "./tokens/claims.ts";

export interface Kind<Value> {
  readonly schema: z.ZodMiniType<Value, string>;
  /** Where development is less strict. */
  readonly developmentSchema?: z.ZodMiniType<Value, string>;
}

/** Origins that browsers may come from; `same` is the origin of the request itself. */
export type Origins = "*" | "same" | readonly string[];

export const number = (min: number, max: number): Kind<number> => ({
  schema: bounded(/^\d+(\.\d+)?$/, "must be a number", min, max),
});

export const integer = (min: number, max: number): Kind<number> => ({
  schema: bounded(/^\d+$/, "must be a whole number", min, max),
});

const bounded = (form: RegExp, error: string, min: number, max: number) =>
  z.pipe(
    z.pipe(z.string().check(z.regex(form, { error, abort: true })), z.transform(Number)),
    z.number().check(z.minimum(min, `must be at least ${min}`), z.maximum(max, `must be at most ${max}`)),
  );

export const oneOf = <const Choice extends string>(...choices: [Choice, ...Choice[]]): Kind<Choice> => ({
  schema: z.literal(choices, { error: `must be ${choices.join(" or ")}` }),
});

export const onOff: Kind<boolean> = {
  schema: z.pipe(
    oneOf("on", "off").schema,
    z.transform((value) => value === "on"),
  ),
};

export const text: Kind<string> = { schema: z.string() };

export const textUpTo = (lengthMax: number): Kind<string> => ({
  schema: z.string().check(z.maxLength(lengthMax, `at most ${lengthMax} characters`)),
});

/** A secret of so many bytes, because strangers could try out shorter ones. */
export const secret = (bytesMin: number): Kind<string> => ({
  schema: z.string().check(
    z.refine((value) => new TextEncoder().encode(value).length >= bytesMin, {
      error: `must have at least ${bytesMin} bytes in production, chosen by chance`,
    }),
  ),
  developmentSchema: z.string(),
});

export const publicKey: Kind<string> = {
  schema: z.string().check(
    z.refine(isPublicKey, {
      error: "must be a public key: a PEM (-----BEGIN PUBLIC KEY-----) or a JWK, of kind RSA, P-256 or Ed25519",
    }),
  ),
};

export const url: Kind<string> = {
  schema: z.string().check(
    z.trim(),
    z.refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
      error: "must be an http or https URL",
      abort: true,
    }),
  ),
};

/** Stands in `SIGN_IN_URL` for the address to come back to. */
export const RETURN_PLACE = "{return}";

/** Behind the host, so that whoever makes the page's address has no say in where the page goes. */
const HAS_RETURN_PLACE = /^https?:\/\/[^/?#]*[/?#].*\{return\}/i;

/** The address of a page that signs visitors in and comes back. */
export const signInUrl: Kind<string> = {
  schema: url.schema.check(
    z.refine((text) => HAS_RETURN_PLACE.test(text), {
      error: `must have ${RETURN_PLACE} in its path, query or fragment, in the place of the address to come back to`,
    }),
  ),
};

/** A URL whose user and password can be read out of it. */
export const urlWithUser: Kind<string> = {
  schema: url.schema.check(
    z.refine(isDecodable, { error: "has a % in its user or password that begins no escape: write %25" }),
  ),
};

function isDecodable(address: string): boolean {
  const { username, password } = new URL(address);
  try {
    return [username, password].every((part) => decodeURIComponent(part) !== undefined);
  } catch {
    return false;
  }
}

const list = z.pipe(
  z.string(),
  z.transform((value) => value.split(",").map((item) => item.trim())),
);

export const transports: Kind<ReadonlyArray<"websocket" | "polling">> = {
  schema: z.pipe(
    list,
    z.array(z.literal(["websocket", "polling"]), { error: "must be websocket, polling or both, comma-separated" }),
  ),
};

export const roomRules: Kind<readonly string[]> = {
  schema: list.check(
    z.refine((rules) => rules.length <= ROOMS_MAX && rules.every((rule) => isRoomName(rule.replace(/\*$/, "x"))), {
      error: `must be a comma-separated list of at most ${ROOMS_MAX} room names, or prefixes ending in *`,
    }),
  ),
};

export const mediaTypes: Kind<readonly string[]> = {
  schema: z.pipe(
    z.pipe(
      z.string(),
      z.transform((value) => value.split(",").map((type) => type.trim().toLowerCase())),
    ),
    z.array(
      z.string().check(
        z.regex(/^(\*\/\*|[a-z0-9.+_-]+\/(\*|[a-z0-9.+_-]+))$/, {
          error: "must be a comma-separated list of media types such as image/png or audio/*",
        }),
      ),
    ),
  ),
};

export const origins: Kind<Origins> = {
  schema: z.pipe(
    list.check(
      z.refine((all) => all.every((origin) => origin === "*" || isOrigin(origin)), {
        error: "must be * or a comma-separated list of origins such as https://example.com or capacitor://localhost",
      }),
    ),
    z.transform((all): Origins => (all.includes("*") ? "*" : all)),
  ),
};
