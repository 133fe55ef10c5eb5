// Tokens of the users of a load test: signed here with the server's secret, read from a file, or asked for as guests.
import { readFileSync } from "node:fs";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import { readLocalSettings } from "../local-variables.ts";
import type { Tokens } from "./arguments.ts";
import type { ClientSlot } from "./client-slot.ts";

const TOKEN_SECONDS = 86_400;
const GUESTS_AT_ONCE = 16;

/** @returns a token for a user, or `undefined` where none is shown */
export type TokenFor = (user: string, role?: string) => Promise<string | undefined>;

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

function signed({
  secret,
  ...claims
}: {
  secret: string;
  issuer?: string | undefined;
  audience?: string | undefined;
}): TokenFor {
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

export async function withTokens(crews: readonly ClientSlot[][], tokenFor: TokenFor): Promise<ClientSlot[][]> {
  const tokened = crews.map((seats) => [...seats]);
  const places = tokened.flatMap((seats, pool) => seats.map((slot, index) => ({ pool, index, slot }))).values();
  const fill = async (): Promise<void> => {
    for (const { pool, index, slot } of places) {
      const token = await tokenFor(slot.user);
      if (token !== undefined) tokened[pool]![index] = { ...slot, token };
    }
  };
  await Promise.all(Array.from({ length: GUESTS_AT_ONCE }, fill));
  return tokened;
}
