// Hostile bytes that are neither HTTP nor WebSocket frames. Called by attacks.test.ts and test/outside/attacks.test.ts.

export interface HostileBytes {
  readonly name: string;
  /** In Latin-1: a character is a byte. */
  readonly bytes: string;
  /** Sent over a WebSocket whose handshake is through; otherwise from the first byte on. */
  readonly isOverWebSocket?: true;
}

const HOST = "Host: parley.test\r\n";
const UPGRADE = `${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`;
const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const PATH = "/rooms/wire/socket.io/?EIO=4&transport=websocket";
const POLL = "/rooms/wire/socket.io/?EIO=4&transport=polling";
const list = (cases: Readonly<Record<string, string>>): HostileBytes[] =>
  Object.entries(cases).map(([name, bytes]) => ({ name, bytes }));

/** The server answers none of them well. */
const NO_HTTP = list({
  "a line of nothing but letters": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n\r\n",
  "64 KiB of letters": `${"A".repeat(65_536)}\r\n\r\n`,
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a method that is a sentence": `GET THIS NOW / HTTP/1.1\r\n${HOST}\r\n`,
  "a header without a colon": `GET / HTTP/1.1\r\n${HOST}NoColonHere\r\n\r\n`,
  "a header with NUL": `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`,
  "a header of 1 MB": `GET / HTTP/1.1\r\n${HOST}Authorization: Bearer ${"a".repeat(1024 * 1024)}\r\n\r\n`,
  "100,000 headers": `GET / HTTP/1.1\r\n${HOST}${"X: y\r\n".repeat(100_000)}\r\n`,
  "a target of 1 MB": `GET /${"a".repeat(1024 * 1024)} HTTP/1.1\r\n${HOST}\r\n`,
  "two lengths": `POST /api/guest HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}`,
  "a length below zero": `POST /api/guest HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n{}`,
  "a length above all": `POST /api/guest HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n{}`,
  "a chunk whose length is none": `POST ${POLL} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n`,
  "a post of a session that nobody has, in chunks": `POST ${POLL}&sid=${"A".repeat(20)} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${`4000\r\n${"x".repeat(0x4000)}\r\n`.repeat(8)}0\r\n\r\n`,
  "a WebSocket without a key": `GET ${PATH} HTTP/1.1\r\n${UPGRADE}\r\n`,
  "a WebSocket of version 8": `GET ${PATH} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n${KEY}\r\n`,
  "a room name with a raw line feed": `GET /rooms/a\nX-Injected: 1/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${UPGRADE}${KEY}\r\n`,
  "a room name with an escaped one": `GET /rooms/a%0d%0aX-Injected:%201/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${UPGRADE}${KEY}\r\n`,
  "a path that climbs": `GET /rooms/../../../../etc/passwd HTTP/1.1\r\n${HOST}\r\n`,
  "a path that climbs in escapes": `GET /rooms/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n${HOST}\r\n`,
  "a token that is known to nobody": `GET ${PATH}&token=SECRET-IN-A-QUERY HTTP/1.1\r\n${UPGRADE}${KEY}\r\n`,
});

/** They begin, and never end. */
const UNFINISHED = list({
  nothing: "",
  "bytes of TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "an SSH greeting": "SSH-2.0-OpenSSH_9.6\r\n",
  NULs: "\0".repeat(1000),
  "half a request line": "GET / HT",
  "headers that do not end": `GET / HTTP/1.1\r\n${HOST}X: y\r\n`,
  "a body that does not come": `POST /api/guest HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n`,
  "half an upgrade": `GET ${PATH} HTTP/1.1\r\n${UPGRADE}`,
  "half a chunk": `POST ${POLL}&sid=${"A".repeat(20)} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nffff\r\nx`,
});

/** A frame whose mask is zeros. */
function frame(opcode: number, length: number, payload: string): string {
  const head = length < 126 ? [length | 0x80] : [126 | 0x80, length >> 8, length & 0xff];
  return String.fromCharCode(opcode, ...head, 0, 0, 0, 0) + payload;
}

const NO_WEBSOCKET = list({
  "a frame without a mask": "\x81\x0240",
  "a reserved bit": frame(0xc1, 2, "40"),
  "all reserved bits": frame(0xf1, 2, "40"),
  "an opcode that does not exist": frame(0x83, 2, "40"),
  "a control opcode that does not exist": frame(0x8b, 2, "40"),
  "a continuation of nothing": frame(0x80, 2, "40"),
  "a ping of 126 bytes": frame(0x89, 126, "x".repeat(126)),
  "a ping in pieces": frame(0x09, 1, "x"),
  "a close of one byte": frame(0x88, 1, "x"),
  "a length of 2^63": "\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0",
  "a length of 4 GB": "\x81\xff\0\0\0\x01\0\0\0\0\0\0\0\0",
  "a message of 40 MB in one frame": `\x81\xff\0\0\0\0\x02\x80\0\0\0\0\0\0${"x".repeat(1024 * 1024)}`,
  "HTTP over a WebSocket": `GET / HTTP/1.1\r\n${HOST}\r\n`,
  "a compressed frame that nobody agreed on": frame(0xc1, 7, "\xaaVJ\xcd\xcdU\x02"),
}).map((bytes) => ({ ...bytes, isOverWebSocket: true as const }));

export const HOSTILE_BYTES: readonly HostileBytes[] = [...NO_HTTP, ...UNFINISHED, ...NO_WEBSOCKET];
/** Those to which no answer is due. */
export const UNANSWERED: ReadonlySet<string> = new Set(UNFINISHED.map(({ name }) => name));
