// Notes where each socket of a run began: at the newest message of its first welcome. A line may break between CONNECT and welcome, and
// the socket is recovered from there all the same. Written by run.ts, read by witness.ts.

export interface Beginning {
  readonly epoch: string;
  readonly lastSeq: number;
}

export class Beginnings {
  /** The socket of the last CONNECT that a room accepted, by client. */
  readonly #socketOf = new Map<string, string>();
  readonly #bySocket = new Map<string, Beginning>();

  /** A room sends a packet to a client. */
  spoken(client: string, packet: string): void {
    const [, socket] = /^40\{"sid":"([^"]+)"/.exec(packet) ?? [];
    if (socket !== undefined) return void this.#socketOf.set(client, socket);
    if (!packet.startsWith('42["welcome"')) return;
    const [, { epoch, lastSeq }] = JSON.parse(packet.slice(2)) as [string, Beginning];
    const welcomed = this.#socketOf.get(client);
    if (welcomed !== undefined && !this.#bySocket.has(welcomed)) this.#bySocket.set(welcomed, { epoch, lastSeq });
  }

  of(socket: string): Beginning | undefined {
    return this.#bySocket.get(socket);
  }
}
