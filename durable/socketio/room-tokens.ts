// Verifies tokens for all objects of a deployment by the keys of its settings. Called by socket-object.ts.
import type { Identity } from "../../src/protocol/identity.ts";
import { roomAllowed } from "../../src/protocol/room-name.ts";
import { TokenVerifier } from "../../src/settings/tokens/tokens.ts";
import type { TokenPorts } from "../../src/socketio/server/token-life.ts";
import { goodSettingsOf } from "../good-settings.ts";

/**
 * @param room the name of the object; only tokens for every room open an object without a name
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
