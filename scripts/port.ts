// The port that a local server listens on: read from the environment, and known to be free before anything starts.
import { createServer, type AddressInfo } from "node:net";

const PORT_DEFAULT = 8787;
const PORT_MAX = 65_535;

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
 * @throws Error that says why the port cannot be used
 */
export async function assertPortFree(port: number, host: string, command: string): Promise<void> {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "is in use" : `cannot be opened on ${host} (${code})`;
    throw new Error(`Port ${port} ${reason}. Choose another one: PORT=${port + 1} ${command}`, { cause: error });
  }
}

/** A port that nobody listens on. */
export function freePort(host: string): Promise<number> {
  return listenOnce(0, host);
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(port, host, () => {
      const { port: opened } = probe.address() as AddressInfo;
      probe.close(() => resolve(opened));
    });
  });
}
