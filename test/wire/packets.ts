// Reads and writes packets of Engine.IO and Socket.IO as text, without the code that the tests hold. Called by wire-client.ts and by
// tests that poll.

/** Between the packets of one polling payload, and of one frame of a client with extensions (EXT-2). */
export const SEPARATOR = "\x1e";

/** One Socket.IO packet without attachments; `digit` is its type. */
export interface WirePacket {
  readonly digit: string;
  readonly nsp: string;
  readonly id: number | undefined;
  readonly data: unknown;
}

/** @returns `undefined` for what carries no Socket.IO packet, and for packets with attachments */
export function readPacket(text: string): WirePacket | undefined {
  const [, digit, nsp = "/", id, json] = /^4([0-4])(?:(\/[^,]*),?)?(\d*)(.*)$/s.exec(text) ?? [];
  if (digit === undefined) return undefined;
  return { digit, nsp, id: id ? Number(id) : undefined, data: json ? (JSON.parse(json) as unknown) : undefined };
}

/** @param data left out of the packet where it is `undefined` */
export function writePacket({ digit, nsp = "/", id, data }: Partial<WirePacket> & { readonly digit: string }): string {
  return `4${digit}${nsp === "/" ? "" : `${nsp},`}${id ?? ""}${data === undefined ? "" : JSON.stringify(data)}`;
}
