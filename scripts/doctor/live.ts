// Asks a running deployment: its health, and the handshake of Socket.IO. Called by command.ts for `--url`.
import { error, note, warning, type Finding } from "./finding.ts";

const ANSWER_MS_MAX = 10_000;

/** @param url where the chat is: with its base path, if it has one */
export async function examineLive(url: string, version: string): Promise<Finding[]> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    return [error("live.url", `--url: "${url}" is no http or https URL.`)];
  const base = url.replace(/\/+$/, "");
  return [...(await healthOf(base, version)), ...(await handshakeAt(base))];
}

async function healthOf(base: string, version: string): Promise<Finding[]> {
  const response = await ask(`${base}/health`);
  if (!response) return [error("live.unreachable", `${base}/health does not answer.`)];
  const health = (await response.json().catch(() => ({}))) as { status?: unknown; version?: unknown };
  if (health.status === "misconfigured")
    return [
      error(
        "live.misconfigured",
        "The deployment refuses everybody: a setting, a key or a binding is missing.",
        "Its log says which: npx wrangler tail",
      ),
    ];
  if (health.status !== "healthy")
    return [
      note(
        "live.no-health",
        `${base}/health is not the chat's (HTTP ${response.status}); Workers with Socket.IO alone have none.`,
      ),
    ];
  if (health.version === version) return [];
  return [
    warning(
      "live.version",
      `The deployment runs ${String(health.version)}; installed is ${version}.`,
      "Deploy it again.",
    ),
  ];
}

async function handshakeAt(base: string): Promise<Finding[]> {
  const response = await ask(`${base}/rooms/doctor/socket.io/?EIO=4&transport=polling`);
  if (!response) return [error("live.unreachable", `${base} does not answer a handshake.`)];
  const text = await response.text();
  if (response.ok && text.startsWith('0{"sid":')) return [];
  // A server without long-polling, or one that wants a token first, has answered as one.
  if (response.status === 400 && text.startsWith('{"code":0')) return [];
  if (response.status === 401 || response.status === 403) return [];
  return [
    error(
      "live.no-handshake",
      `${base} does not answer as a Socket.IO server (HTTP ${response.status}).`,
      "Give the base path in --url, such as https://example.com/chat.",
    ),
  ];
}

const ask = (address: string): Promise<Response | undefined> =>
  fetch(address, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).catch(() => undefined);
