// Verifies tokens for the objects of a deployment, the chat's and those of other applications, by the keys of its settings.
import type { Identity } from "../../src/protocol/identity.ts";
import { roomAllowed } from "../../src/protocol/room-name.ts";
import { TokenVerifier } from "../../src/settings/tokens/tokens.ts";
import type { TokenPorts } from "../../src/socketio/server/token-life.ts";
import { goodSettingsOf } from "../good-settings.ts";

/**
 * @param room the object's name; one that has none is opened by tokens for every room only
 * @returns ports that read the settings with the first token
 */
export function roomTokens(env: object, room: string | undefined): TokenPorts {
  let verifier: TokenVerifier | undefined;
  return {
    room: room ?? "",
    opens: ({ rooms }: Identity) => roomAllowed(rooms, room ?? ""),
    authenticate: async (token) => (verifier ??= new TokenVerifier(goodSettingsOf(env))).verify(token),
  };
}
