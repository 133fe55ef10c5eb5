// The kinds of values of settings in the words of docs/settings.md. They stand here and not beside the schemas, so that they are no part of the
// Worker; bounds and choices are those of the schemas. Called by settings-page.ts.
import * as z from "zod/mini";

import * as kinds from "../src/settings/kinds.ts";
import { ROOMS_MAX } from "../src/settings/tokens/claims.ts";

const TEXTS = new Map<unknown, string>([
  [kinds.onOff, "`on` or `off`"],
  [kinds.text, "text"],
  [kinds.publicKey, "PEM or JWK of kind RSA, P-256 or Ed25519"],
  [kinds.url, "http or https URL"],
  [kinds.urlWithUser, "http or https URL"],
  [kinds.signInUrl, `http or https URL with \`${kinds.RETURN_PLACE}\` in it`],
  [kinds.transports, "`websocket`, `polling` or both, comma-separated"],
  [kinds.roomRules, `at most ${ROOMS_MAX} room names, or prefixes ending in \`*\`, comma-separated`],
  [kinds.mediaTypes, "media types, comma-separated; `audio/*` is all of a kind"],
  [kinds.origins, "`*`, or origins, comma-separated"],
]);

const WHOLE = "^\\d+$";

export function kindText(kind: kinds.Kind<unknown>): string {
  const known = TEXTS.get(kind);
  if (known !== undefined) return known;
  if (kind.developmentSchema) return `secret, at least ${bytesMinOf(kind.schema)} bytes in production`;
  const { pattern, enum: choices } = z.toJSONSchema(kind.schema, { io: "input" });
  const { minimum, maximum, maxLength } = z.toJSONSchema(kind.schema);
  if (choices) return choices.map((choice) => `\`${String(choice)}\``).join(" or ");
  if (maxLength !== undefined) return `text, at most ${maxLength} characters`;
  return `${pattern === WHOLE ? "whole number" : "number"}, ${minimum} to ${maximum}`;
}

/** The length of the shortest text that a schema takes. */
function bytesMinOf(schema: z.ZodMiniType): number {
  let text = "";
  while (!schema.safeParse(text).success) text += "x";
  return text.length;
}
