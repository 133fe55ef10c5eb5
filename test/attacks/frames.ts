// Hostile frames over an open WebSocket: the server ends the session, answers, or ignores them.

export interface HostileFrames {
  readonly name: string;
  readonly frames: ReadonlyArray<string | Uint8Array<ArrayBuffer>>;
  /** The close code of the session; absent where it stays. */
  readonly closes?: number;
  /** Sent over a session that may join packets in a frame (EXT-2). */
  readonly isExtended?: true;
}

const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);
const placeholder = (num: unknown): string => `{"_placeholder":true,"num":${JSON.stringify(num)}}`;
const nested = (depth: number, open = "[", close = "]"): string => open.repeat(depth) + close.repeat(depth);
const closing = (closes: number, cases: Readonly<Record<string, HostileFrames["frames"]>>): HostileFrames[] =>
  Object.entries(cases).map(([name, frames]) => ({ name, frames, closes }));

const NO_PACKETS = closing(1002, {
  "an empty frame": [""],
  "a type that does not exist": ["7"],
  "a letter": ["x"],
  "a JSON object": ['{"type":"message"}'],
  NUL: ["\u0000"],
  "a line feed": ["\n"],
  "a byte order mark before a message": ['\ufeff42["presence",{}]'],
  "a digit of another script": ["\u0664"],
  "a lone surrogate": ["\ud800"],
  "a ping, which is the server's": ["2"],
  "a probe": ["2probe"],
  "a minus": ["-4"],
  "a blank before a message": [' 42["presence",{}]'],
  "a base64 packet of long-polling": ["bAAAA"],
  "an HTTP request": ["GET / HTTP/1.1\r\nHost: parley.test\r\n\r\n"],
});

const NO_SOCKET_IO = closing(1002, {
  "an empty message": ["4"],
  "a packet type that does not exist": ["47"],
  "a packet type of the server's: CONNECT_ERROR": ['44{"message":"x"}'],
  "an event without a payload": ["42"],
  "an event that is an object": ["42{}"],
  "an event that is text": ['42"presence"'],
  "an event that is a number": ["42123"],
  "an event that is null": ["42null"],
  "an empty event": ["42[]"],
  "a name that is null": ["42[null]"],
  "a name that is a number": ["42[1]"],
  "a name that is a list": ['42[["presence"],{}]'],
  "a name that is an object": ['42[{"toString":"presence"},{}]'],
  "a name that is true": ["42[true]"],
  "JSON that ends too soon": ['42["presence",{'],
  "JSON that goes on": ['42["presence",{}]]'],
  "JSON with single quotes": ["42['presence',{}]"],
  "JSON with a comment": ['42["presence",{}/**/]'],
  "JSON with a trailing comma": ['42["presence",{},]'],
  "JSON with NaN": ['42["presence",NaN]'],
  "JSON with Infinity": ['42["presence",Infinity]'],
  "JSON with a raw line feed": ['42["presence","\n"]'],
  "JSON with a bad escape": ['42["presence","\\x41"]'],
  "JSON with half an escape": ['42["presence","\\u12"]'],
  "a script": ['42["presence",function(){}]'],
  "the reserved name connect": ['42["connect"]'],
  "the reserved name connect_error": ['42["connect_error",{}]'],
  "the reserved name disconnect": ['42["disconnect"]'],
  "the reserved name disconnecting": ['42["disconnecting"]'],
  "the reserved name newListener": ['42["newListener"]'],
  "the reserved name removeListener": ['42["removeListener"]'],
  "a negative ack id": ['42-1["presence",{}]'],
  "an ack id with a fraction": ['421.5["presence",{}]'],
  "an ack id of 2^53": ['429007199254740992["presence",{}]'],
  "an ack id of 400 digits": [`42${"9".repeat(400)}["presence",{}]`],
  "an ack id in hexadecimal": ['420x10["presence",{}]'],
  "an ack without an id": ["43[]"],
  "an ack that is an object": ['431{"a":1}'],
  "an ack that is null": ["431null"],
  "a CONNECT with a list": ["40/other,[1]"],
  "a CONNECT with text": ['40/other,"x"'],
  "a CONNECT whose JSON ends too soon": ['40/other,{"token":'],
  "a second CONNECT": ["40"],
  "a second CONNECT with a token": ['40{"token":"x"}'],
  "a DISCONNECT with a payload": ["41{}"],
});

const NOT_JOINED = closing(1002, {
  "an event in a namespace not joined": ['42/admin,["presence",{}]'],
  "an event in the namespace __proto__": ['42/__proto__,["presence",{}]'],
  "an event in the namespace constructor": ['42/constructor,["presence",{}]'],
  "an event in a namespace of 60,000 characters": [`42/${"n".repeat(60_000)},["presence",{}]`],
  "an ack in a namespace not joined": ["43/admin,1[]"],
  "a DISCONNECT from a namespace not joined": ["41/admin,"],
  "bytes in a namespace not joined": [`451-/admin,["x",${placeholder(0)}]`, bytes(1)],
});

const BINARY = closing(1002, {
  "bytes out of nowhere": [bytes(8)],
  "no bytes at all": [bytes(0)],
  "64 KiB out of nowhere": [bytes(65_536)],
  "text where bytes are due": [`451-["x",${placeholder(0)}]`, '42["presence",{}]'],
  "a close of Socket.IO where bytes are due": [`451-["x",${placeholder(0)}]`, "41"],
  "eleven attachments": [`4511-["x",${placeholder(0)}]`],
  "a million attachments": [`451000000-["x",${placeholder(0)}]`],
  "attachments below zero": [`45-1-["x",${placeholder(0)}]`],
  "attachments with a fraction": [`451.5-["x",${placeholder(0)}]`],
  "attachments that are not counted": [`45-["x",${placeholder(0)}]`],
  "attachments without a dash": [`451["x",${placeholder(0)}]`],
  "a placeholder out of range": [`451-["x",${placeholder(5)}]`, bytes(1)],
  "a placeholder below zero": [`451-["x",${placeholder(-1)}]`, bytes(1)],
  "a placeholder that is text": [`451-["x",${placeholder("0")}]`, bytes(1)],
  "a placeholder named __proto__": [`451-["x",${placeholder("__proto__")}]`, bytes(1)],
  "a placeholder named length": [`451-["x",${placeholder("length")}]`, bytes(1)],
  "a binary ack without an id": ["461-[]", bytes(1)],
});

const TOO_LARGE = closing(1009, {
  "65,537 bytes of text": [`4${"x".repeat(65_536)}`],
  "65,537 bytes": [bytes(65_537)],
  "few characters and many bytes": [`42["presence","${"€".repeat(22_000)}"]`],
  "a megabyte of text": ["4".repeat(1024 * 1024)],
  "a megabyte": [bytes(1024 * 1024)],
  "a megabyte of brackets": [`42["presence",${nested(524_288)}]`],
  "an attachment above the limit": [`451-["x",${placeholder(0)}]`, bytes(65_537)],
  "lone surrogates that grow in UTF-8": ["\ud800".repeat(30_000)],
});

const JOINED: HostileFrames[] = [
  ["two packets, one of them none", '42["presence",{}]\x1ex', 1002],
  ["an empty packet between two", '42["presence",{}]\x1e\x1e42["presence",{}]', 1002],
  ["separators alone", "\x1e".repeat(1000), 1002],
  ["a ping among packets", '42["presence",{}]\x1e2', 1002],
  ["30,000 noops", Array.from({ length: 30_000 }, () => "6").join("\x1e"), 4007],
  ["10,000 acks that nobody asked for", Array.from({ length: 10_000 }, () => "431[]").join("\x1e"), 4007],
  ["2,000 CONNECTs to namespaces that do not exist", connects(2000), 4006],
  ["a close, then 1,000 events", `1${'\x1e42["presence",{}]'.repeat(1000)}`, 1000],
].map(([name, frame, closes]) => ({
  name: String(name),
  frames: [String(frame)],
  closes: Number(closes),
  isExtended: true,
}));

function connects(count: number): string {
  return Array.from({ length: count }, (_, i) => `40/${i},`).join("\x1e");
}

const BATCH_OF_PLAIN = closing(1002, {
  "a batch where none was agreed on": ['42["presence",{}]\x1e42["presence",{}]'],
});

/** Frames that change nothing and end no connection. */
const PASSED_OVER: HostileFrames[] = Object.entries({
  "a pong that nobody asked for": ["3"],
  "a pong with something in it": ["3probe"],
  "a pong with a made-up answer": [`3${"A".repeat(20)}`],
  "a handshake of its own": ['0{"sid":"x","upgrades":[],"pingInterval":1,"pingTimeout":1,"maxPayload":1}'],
  "an upgrade": ["5"],
  "a noop": ["6"],
  "an ack that nobody asked for": ["431[]"],
  "an ack of 2^53 - 1": ['439007199254740991["x"]'],
  "an ack with 10,000 levels": [`431[${nested(10_000)}]`],
  "a CONNECT to a namespace that does not exist": ["40/admin,"],
  "a placeholder with a fraction": [`451-["x",${placeholder(0.5)}]`, bytes(1)],
  "a CONNECT with an ack id": ["40/other,7"],
  "a CONNECT to __proto__": ["40/__proto__,"],
  "a CONNECT to a namespace that looks like a path": ["40/../../etc/passwd,"],
  "a CONNECT that would set a prototype": ['40/other,{"__proto__":{"polluted":"yes"}}'],
  "a CONNECT with 10,000 levels": [`40/other,{"a":${nested(10_000)}}`],
  "an event called __proto__": ['42["__proto__",{"polluted":"yes"}]'],
  "an event called constructor": ['42["constructor",{"prototype":{"polluted":"yes"}}]'],
  "an event called hasOwnProperty": ['42["hasOwnProperty"]'],
  "an event called toString": ['42["toString"]'],
  "an event called then": ['42["then",{}]'],
  "an event without a name": ['42["",{}]'],
  "an event called by 60,000 characters": [`42["${"e".repeat(60_000)}",{}]`],
  "an event of the server's: chat-message to all": ['42["moderation",{"action":"ban","user":"ada"}]'],
  "an event of the server's: notice": ['42["notice",{"code":"SERVER_SHUTDOWN"}]'],
  "an event of the server's: welcome": ['42["welcome",{"room":"x"}]'],
  "an event called upload, which is no event": ['42["upload",{"size":1,"type":"text/plain"}]'],
  "an event whose name says a line of a log": ['42["x\\r\\n2026-11-21 ERROR broken",{}]'],
  "an event whose name is a format": ['42["%s%d%o%j",{}]'],
  "an event with 1,000 arguments": [`42["presence"${",1".repeat(1000)}]`],
}).map(([name, frames]) => ({ name, frames }));

export const HOSTILE_FRAMES: readonly HostileFrames[] = [
  ...NO_PACKETS,
  ...NO_SOCKET_IO,
  ...NOT_JOINED,
  ...BINARY,
  ...TOO_LARGE,
  ...JOINED,
  ...BATCH_OF_PLAIN,
  ...PASSED_OVER,
];
