// Tokens of the users of a run: signed here with the server's secret, read from a file, or asked for as guests. Called by all modes with users.
import { readFileSync } from "node:fs";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { readLocalSettings } from "../local-variables.ts";
import type { TokenFor } from "./crowd.ts";

const TOKEN_SECONDS = 86_400;

export type Tokens =
  | { readonly kind: "secret"; readonly secret: string }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "guest" }
  /** A token of the local secret on this machine, none elsewhere. */
  | { readonly kind: "usual" };

/** @throws Error with the mistake in the options for tokens */
export function tokenSource(tokens: Tokens, origin: string, isLoopback: boolean): TokenFor {
  switch (tokens.kind) {
    case "secret":
      return signed({ secret: tokens.secret });
    case "file":
      return fromFile(tokens.file);
    case "guest":
      return () => askForGuest(origin);
    case "usual": {
      if (!isLoopback) throw new Error("Tokens are needed: --token-secret, --tokens or --guest.");
      const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience } = readLocalSettings();
      return signed({ secret: jwtSecret!, issuer, audience });
    }
  }
}

export const noTokens: TokenFor = () => Promise.resolve(undefined);

interface Claims {
  readonly secret: string;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

export function signed({ secret, ...claims }: Claims): TokenFor {
  return (user, role) => signToken(secret, { user, ...(role && { role }), ...claims }, TOKEN_SECONDS);
}

/** One a line; users take them in turn. */
function fromFile(file: string): TokenFor {
  const tokens = readFileSync(file, "utf8").split("\n").filter(Boolean);
  if (tokens.length === 0) throw new Error(`${file} holds no tokens.`);
  let next = 0;
  return () => Promise.resolve(tokens[next++ % tokens.length]);
}

async function askForGuest(origin: string): Promise<string> {
  const response = await fetch(`${origin}/api/guest`, { method: "POST" });
  if (!response.ok) throw new Error(`No guests here: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}
