// Verifies tokens for a room of the chat by the keys of its settings. Called by create-chat.ts.
import type { Identity } from "../src/protocol/identity.ts";
import { roomAllowed } from "../src/protocol/room-name.ts";
import { TokenVerifier } from "../src/settings/tokens/tokens.ts";
import type { TokenPorts } from "../src/socketio/server/token-life.ts";
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
