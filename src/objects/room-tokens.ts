// Verifies tokens for a room of the chat by the keys of its settings. Called by create-chat.ts and create-shard.ts.
import type { Identity } from "../protocol/identity.ts";
import { roomAllowed } from "../protocol/room-name.ts";
import { TokenVerifier } from "../settings/tokens/tokens.ts";
import type { TokenPorts } from "../socketio/server/token-life.ts";
import { goodSettingsOf } from "./good-settings.ts";

/** @returns ports that read the settings with the first token */
export function roomTokens(env: object, room: string): TokenPorts {
  let verifier: TokenVerifier | undefined;
  return {
    room,
    opens: ({ rooms }: Identity) => roomAllowed(rooms, room),
    authenticate: async (token) => (verifier ??= new TokenVerifier(goodSettingsOf(env))).verify(token),
  };
}
