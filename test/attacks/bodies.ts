// Hostile bodies of long-polling posts: each ends the session that sends it.

export interface HostileBody {
  readonly name: string;
  readonly body: string;
  readonly status: 200 | 400 | 413;
}

const ending = (status: HostileBody["status"], cases: Readonly<Record<string, string>>): HostileBody[] =>
  Object.entries(cases).map(([name, body]) => ({ name, body, status }));

export const HOSTILE_BODIES: readonly HostileBody[] = [
  ...ending(400, {
    nothing: "",
    "a separator": "\x1e",
    "10,000 separators": "\x1e".repeat(10_000),
    "a type that does not exist": "9",
    "a letter": "x",
    "JSON that is no packet": '{"type":"message"}',
    "a form": "packets=42%5B%5D",
    XML: '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>',
    "a multipart body": '--x\r\nContent-Disposition: form-data; name="d"\r\n\r\n42[]\r\n--x--',
    "a binary payload of revision 3": "\u0000\u0001\u00074hello",
    "base64 that is none": "b!!!!",
    "base64 of a wrong length": "bA",
    "base64 with a line feed": "bAA\nAA",
    "bytes out of nowhere": "bAAAA",
    "a ping": "2",
    "a probe over long-polling": "2probe",
    "an event that is an object": "42{}",
    "an event that is null": "42[null]",
    "a reserved name": '42["disconnect"]',
    "JSON that ends too soon": '42["presence",',
    "eleven attachments": '4511-["x",{"_placeholder":true,"num":0}]',
    "a placeholder out of range": '451-["x",{"_placeholder":true,"num":5}]\x1ebAAAA',
    "a good packet and a bad one": '42["presence",{}]\x1ex',
    "a bad packet and a good one": 'x\x1e42["presence",{}]',
    "an ack id above 2^53": '429007199254740993["presence",{}]',
  }),
  // Of a good form: what they say ends the session.
  ...ending(200, {
    "a payload of revision 3": '17:42["presence",{}]',
    "an event in a namespace not joined": '42/admin,["presence",{}]',
    "a second CONNECT": "40",
    "30,000 noops": Array.from({ length: 30_000 }, () => "6").join("\x1e"),
    "10,000 acks that nobody asked for": Array.from({ length: 10_000 }, () => "431[]").join("\x1e"),
    "2,000 CONNECTs": Array.from({ length: 2000 }, (_, i) => `40/${i},`).join("\x1e"),
  }),
  ...ending(413, {
    "65,537 bytes": `4${"x".repeat(65_536)}`,
    "few characters and many bytes": `42["presence","${"€".repeat(22_000)}"]`,
    "a megabyte": "4".repeat(1024 * 1024),
    "a megabyte of brackets": "[".repeat(1024 * 1024),
  }),
];
