// The port that a local server listens on: read from the environment, and known to be free before anything starts.
import { createServer } from "node:net";

const PORT_DEFAULT = 8787;
const PORT_MAX = 65_535;

/** The name has no address, or the address is that of another machine. */
const NO_ADDRESS_CODES = new Set(["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL"]);

const FREE_PORT_MIN = 20_000;
/** From here on Linux lends ports to outgoing connections (ip_local_port_range). */
const LENT_PORT_MIN = 32_768;
const FREE_TRIES_MAX = 100;
const givenPorts = new Set<number>();

/** @param text the value of `PORT`; nothing means 8787 */
export function readPort(text: string | undefined): number {
  if (!text) return PORT_DEFAULT;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX)
    throw new Error(`PORT must be a number from 1 to ${PORT_MAX}, not ${JSON.stringify(text)}.`);
  return port;
}

/**
 * @param command named in the advice where the port is taken
 * @throws Error that says why the port, or the host, cannot be used
 */
export async function assertPortFree(port: number, host: string, command: string): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (NO_ADDRESS_CODES.has(code))
      throw new Error(
        `HOST=${host} is no address of this machine (${code}). Choose another one: HOST=127.0.0.1 ${command}`,
        { cause: error },
      );
    const reason = code === "EADDRINUSE" ? "is in use" : `cannot be opened on ${host} (${code})`;
    throw new Error(`Port ${port} ${reason}. Choose another one: PORT=${port + 1} ${command}`, { cause: error });
  }
}

/**
 * A free port outside the range that the system lends to outgoing connections; never the
 * same one twice.
 */
export async function freePort(host: string): Promise<number> {
  for (let tries = 0; tries < FREE_TRIES_MAX; tries++) {
    const port = FREE_PORT_MIN + Math.floor(Math.random() * (LENT_PORT_MIN - FREE_PORT_MIN));
    if (givenPorts.has(port)) continue;
    givenPorts.add(port);
    if (await listenOnce(port, host).catch(() => false)) return port;
  }
  throw new Error(`No free port on ${host} in ${FREE_TRIES_MAX} tries`);
}

function listenOnce(port: number, host: string): Promise<true> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
