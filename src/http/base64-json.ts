// JSON in base64url, as parts of a JSON Web Token and cursors of pages have it. Called by tokens and by the HTTP API.
import { decode, encode } from "jose/base64url";

export const encodeJson = (value: unknown): string => encode(JSON.stringify(value));

/** @throws for a text that is no base64url, or no JSON in it */
export const decodeJson = (text: string): unknown => JSON.parse(new TextDecoder().decode(decode(text)));
