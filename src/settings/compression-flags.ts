// Compression of frames (permessage-deflate) is the runtime's: a flag of the deployment turns it on or off for all
// WebSockets, and a setting of ours says which of the two is meant.
// Source: https://developers.cloudflare.com/workers/configuration/compatibility-flags/#websocket-compression

const ON = "web_socket_compression";
const OFF = "no_web_socket_compression";

/** The compatibility flags that a local runtime is to be started with, from those that wrangler.toml gives. */
export function withCompression(flags: readonly string[], isOn: boolean): string[] {
  return [...flags.filter((flag) => flag !== ON && flag !== OFF), isOn ? ON : OFF];
}

/** @param runtime the flags that the runtime says are in force; `undefined` where it does not say */
export function compressionProblem(
  isMeant: boolean,
  runtime: Readonly<Record<string, boolean>> | undefined,
): string | undefined {
  const isOn = runtime?.[ON];
  if (isOn === undefined || isOn === isMeant) return undefined;
  return isMeant
    ? `COMPRESSION: on needs compatibility_flags without "${OFF}" in wrangler.toml`
    : `COMPRESSION: off needs compatibility_flags = ["${OFF}"] in wrangler.toml`;
}
