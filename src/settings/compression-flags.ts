// Compares the setting COMPRESSION with the runtime's flag, which turns compression of frames on or off for all WebSockets.
// Called by the Worker at its start and by the local servers.
// Source: https://developers.cloudflare.com/workers/configuration/compatibility-flags/#websocket-compression

const ON = "web_socket_compression";
const OFF = "no_web_socket_compression";

/** The compatibility flags for a local runtime, made of those in wrangler.toml. */
export function withCompression(flags: readonly string[], isOn: boolean): string[] {
  return [...flags.filter((flag) => flag !== ON && flag !== OFF), isOn ? ON : OFF];
}

/** @param runtime the flags in force; `undefined` where the runtime does not tell */
export function compressionProblem(
  isMeant: boolean,
  runtime: Readonly<Record<string, boolean>> | undefined,
): string | undefined {
  const isOn = runtime?.[ON];
  if (isOn === undefined || isOn === isMeant) return undefined;
  return isMeant
    ? `COMPRESSION: on needs compatibility_flags without "${OFF}"`
    : `COMPRESSION: off needs compatibility_flags = ["${OFF}"]`;
}
