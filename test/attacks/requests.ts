// Hostile requests: the Worker refuses them without touching a room, and tells callers without a token nothing.

import { HOSTILE_CALLS } from "./announcements.ts";

export interface HostileRequest {
  readonly name: string;
  readonly method?: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** As a member whose token opens the room; otherwise as a stranger. */
  readonly isMember?: true;
  /** As a service whose token opens everything. */
  readonly isService?: true;
}

const WEBSOCKET = { Upgrade: "websocket" };
const ENGINE = "EIO=4&transport=websocket";
const POLLING = "EIO=4&transport=polling";
const SID = "A".repeat(20);

/** Of the room that is attacked. */
export const ROOM = "room-attacked";

const requests = (
  status: number,
  cases: Readonly<Record<string, Omit<HostileRequest, "name" | "status">>>,
): HostileRequest[] => Object.entries(cases).map(([name, request]) => ({ name, status, ...request }));

const paths = (status: number, names: readonly string[]): HostileRequest[] =>
  names.map((path) => ({ name: `GET ${path.slice(0, 80)}`, path, status }));

/** Names that are none, as they stand in an address. */
const BAD_ROOMS = [
  "%2e%2e%2fetc",
  "..%2f..%2fetc%2fpasswd",
  "a%2fb",
  "a%5cb",
  "%00",
  "a%00b",
  "a%0d%0aX-Injected:%201",
  "a%0ab",
  "%20",
  "a%20b",
  "%3Cscript%3E",
  "%27%20OR%201=1",
  "%24%7Bjndi:ldap:%2f%2fevil.example%7D",
  "%7B%7B7*7%7D%7D",
  "a%25",
  "%ff%fe",
  "%ed%a0%80",
  "%e2%80%ae",
  "a%23b",
  "a%3Fb",
  "a%3Bb",
  "__proto__",
  "-x",
  "~x",
  ".x",
  "_x",
  "x".repeat(65),
  "x".repeat(6e3),
  "r%C3%B6m",
  "%EF%BC%A1",
  "a%E2%80%8Bb",
];

const ROOM_NAMES: HostileRequest[] = BAD_ROOMS.flatMap((room) => [
  {
    name: `/rooms/${room.slice(0, 40)}/socket.io/`,
    path: `/rooms/${room}/socket.io/?${ENGINE}`,
    headers: WEBSOCKET,
    status: 400,
  },
  { name: `?room=${room.slice(0, 40)}`, path: `/socket.io/?${ENGINE}&room=${room}`, headers: WEBSOCKET, status: 400 },
]);

const HANDSHAKES: HostileRequest[] = [
  ...requests(400, {
    "no transport": { path: `/rooms/${ROOM}/socket.io/?EIO=4`, headers: WEBSOCKET },
    "a transport called __proto__": { path: `/rooms/${ROOM}/socket.io/?EIO=4&transport=__proto__`, headers: WEBSOCKET },
    "a transport in another case": { path: `/rooms/${ROOM}/socket.io/?EIO=4&transport=WebSocket`, headers: WEBSOCKET },
    webtransport: { path: `/rooms/${ROOM}/socket.io/?EIO=4&transport=webtransport`, headers: WEBSOCKET },
    "revision 3": { path: `/rooms/${ROOM}/socket.io/?EIO=3&transport=websocket`, headers: WEBSOCKET },
    "revision 04": { path: `/rooms/${ROOM}/socket.io/?EIO=04&transport=websocket`, headers: WEBSOCKET },
    "no revision": { path: `/rooms/${ROOM}/socket.io/?transport=websocket`, headers: WEBSOCKET },
    "polling with an upgrade": { path: `/rooms/${ROOM}/socket.io/?${POLLING}`, headers: WEBSOCKET },
    "a POST without a session": { method: "POST", path: `/rooms/${ROOM}/socket.io/?${POLLING}`, body: "40" },
    "a PUT": { method: "PUT", path: `/rooms/${ROOM}/socket.io/?${POLLING}&sid=${SID}`, body: "40" },
    "a DELETE": { method: "DELETE", path: `/rooms/${ROOM}/socket.io/?${POLLING}&sid=${SID}` },
  }),
  ...[
    "",
    "x",
    "undefined",
    "__proto__",
    "../../x",
    `${SID}A`,
    "A".repeat(19),
    `${"A".repeat(19)}%00`,
    "A".repeat(5000),
  ].flatMap((sid) => [
    {
      name: `a poll of the session ${sid.slice(0, 30)}`,
      path: `/rooms/${ROOM}/socket.io/?${POLLING}&sid=${sid}`,
      status: 400,
    },
    {
      name: `a WebSocket for the session ${sid.slice(0, 30)}`,
      path: `/rooms/${ROOM}/socket.io/?${ENGINE}&sid=${sid}`,
      headers: WEBSOCKET,
      status: 400,
    },
  ]),
  ...requests(400, {
    "a guessed session": { path: `/rooms/${ROOM}/socket.io/?${POLLING}&sid=${SID}` },
    "a post to a guessed session": {
      method: "POST",
      path: `/rooms/${ROOM}/socket.io/?${POLLING}&sid=${SID}`,
      body: "41",
    },
    "a WebSocket for a guessed session": { path: `/rooms/${ROOM}/socket.io/?${ENGINE}&sid=${SID}`, headers: WEBSOCKET },
  }),
  ...requests(426, { "a WebSocket without an upgrade": { path: `/rooms/${ROOM}/socket.io/?${ENGINE}` } }),
];

const NO_ADDRESSES: HostileRequest[] = paths(404, [
  "/.env",
  "/.dev.vars",
  "/.git/config",
  "/wrangler.toml",
  "/package.json",
  "/src/index.ts",
  "/api",
  "/api/",
  "/api/rooms/",
  "/websocket",
  "/polling",
  `/rooms/${ROOM}`,
  `/rooms/${ROOM}/`,
  `/rooms/${ROOM}/websocket`,
  `/rooms/${ROOM}/polling`,
  `//rooms/${ROOM}/socket.io/?${ENGINE}`,
  `/rooms//socket.io/?${ENGINE}`,
  `/rooms/${ROOM}/socket.io/x?${ENGINE}`,
  `/ROOMS/${ROOM}/socket.io/?${ENGINE}`,
  `/rooms/${ROOM}/socket.io%2f?${ENGINE}`,
  `/socket.io/../../rooms/${ROOM}`,
  "/api/__proto__",
  "/api/constructor",
  "/admin/secrets",
  "/cdn-cgi/mf/explorer",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/server-status",
]);

/** Every call about a room, without a token: 401, also when more is wrong with it. */
const STRANGERS: HostileRequest[] = [
  ...[
    "",
    "/messages",
    "/members",
    "/search?query=x",
    "/export",
    "/audit",
    "/moderation",
    "/links",
    "/messages/x-1",
  ].map((call) => ({
    name: `GET of ${call || "the room"} by a stranger`,
    path: `/api/rooms/${ROOM}${call}`,
    status: 401,
  })),
  ...requests(401, {
    "the list of rooms by a stranger": { path: "/api/rooms" },
    "a post by a stranger": {
      method: "POST",
      path: `/api/rooms/${ROOM}/messages`,
      body: '{"content":"mallory was here"}',
    },
    "a ban by a stranger": {
      method: "POST",
      path: `/api/rooms/${ROOM}/moderation`,
      body: '{"action":"ban","user":"ada"}',
    },
    "a deletion by a stranger": { method: "DELETE", path: `/api/rooms/${ROOM}` },
    "a drain by a stranger": { method: "POST", path: "/api/drain", body: "{}" },
    "an upload by a stranger": { method: "POST", path: `/api/rooms/${ROOM}/files?name=x.png`, body: "x" },
    "dead letters by a stranger": { path: "/api/relay/dead" },
    "basic authentication": { path: `/api/rooms/${ROOM}`, headers: { Authorization: "Basic YWRtaW46YWRtaW4=" } },
    "a bearer without a token": { path: `/api/rooms/${ROOM}`, headers: { Authorization: "Bearer" } },
    "two tokens in a header": { path: `/api/rooms/${ROOM}`, headers: { Authorization: "Bearer a.b.c, Bearer d.e.f" } },
    "a token in the query, which the API does not read": { path: `/api/rooms/${ROOM}?token=x` },
    "a token in a cookie": { path: `/api/rooms/${ROOM}`, headers: { Cookie: "token=x; session=y" } },
    "the address of an administrator": { path: `/api/rooms/${ROOM}`, headers: { "X-Forwarded-For": "127.0.0.1" } },
    "another method in a header": {
      method: "POST",
      path: `/api/rooms/${ROOM}/messages`,
      headers: { "X-HTTP-Method-Override": "DELETE" },
      body: "{}",
    },
    "another address in a header": { path: `/api/rooms/${ROOM}`, headers: { "X-Original-URL": "/health" } },
  }),
];

/** The same by a member without the moderator's role. */
const MEMBERS: HostileRequest[] = [
  ...["", "/messages", "/members", "/search?query=x", "/export", "/audit", "/moderation", "/links"].map((call) => ({
    name: `GET of ${call || "the room"} by a member`,
    path: `/api/rooms/${ROOM}${call}`,
    status: 403,
    isMember: true as const,
  })),
  ...requests(403, {
    "a ban by a member": {
      method: "POST",
      path: `/api/rooms/${ROOM}/moderation`,
      body: '{"action":"ban","user":"ada"}',
      isMember: true,
    },
    "a deletion by a member": { method: "DELETE", path: `/api/rooms/${ROOM}`, isMember: true },
    "a drain by a member": { method: "POST", path: "/api/drain", body: "{}", isMember: true },
    "a link by a member": {
      method: "POST",
      path: `/api/rooms/${ROOM}/links`,
      body: '{"to":"elsewhere"}',
      isMember: true,
    },
    "a replay by a member": { method: "POST", path: "/api/relay/dead/replay", body: "{}", isMember: true },
  }),
  ...requests(404, {
    "a file that never was": { path: "/files/elsewhere~e~aaaaaaaaaaaaaaaaaaaaaaaa", isMember: true },
  }),
];

const GUESTS: HostileRequest[] = [
  ...requests(400, {
    "a guest named by a list": { method: "POST", path: "/api/guest", body: '{"name":["x"]}' },
    "a guest named by an object": { method: "POST", path: "/api/guest", body: '{"name":{"toString":"x"}}' },
    "a guest with a line feed": { method: "POST", path: "/api/guest", body: '{"name":"a\\nERROR forged"}' },
    "a guest with an escape sequence": { method: "POST", path: "/api/guest", body: '{"name":"\\u001b[2J"}' },
    "a guest of 65 characters": { method: "POST", path: "/api/guest", body: `{"name":"${"n".repeat(65)}"}` },
    "a guest who is a list": { method: "POST", path: "/api/guest", body: "[]" },
    "a guest who is null": { method: "POST", path: "/api/guest", body: "null" },
    "a guest who is no JSON": { method: "POST", path: "/api/guest", body: "name=x" },
    "a guest of 3,000 levels": { method: "POST", path: "/api/guest", body: "[".repeat(2000) + "]".repeat(2000) },
  }),
  ...requests(413, {
    "a guest of 5,000 bytes": { method: "POST", path: "/api/guest", body: `{"name":"${"n".repeat(5000)}"}` },
  }),
  ...requests(405, { "a GET of a guest": { path: "/api/guest" } }),
];

/** By what is wrong with them. */
export const REQUESTS_BY_KIND: Readonly<Record<string, readonly HostileRequest[]>> = {
  "names of rooms that are none": ROOM_NAMES,
  handshakes: HANDSHAKES,
  "addresses that do not exist": NO_ADDRESSES,
  "calls by strangers": STRANGERS,
  "calls of moderators by members": MEMBERS,
  guests: GUESTS,
  "announcements and conversations": HOSTILE_CALLS,
};

export const HOSTILE_REQUESTS: readonly HostileRequest[] = Object.values(REQUESTS_BY_KIND).flat();

/** Pages of other sites, some of which look like our own: none gets in where only our own pages may. */
export const FOREIGN_ORIGINS: readonly string[] = [
  "null",
  "https://evil.example",
  "http://parley.test.evil.example",
  "http://evil-parley.test",
  "http://parley.test.evil",
  "https://parley.test",
  "http://parley.test:81",
  "http://parley.test:8080",
  "http://sub.parley.test",
  "http://parley.testx",
  "http://xparley.test",
  "http://parley.test/",
  "http://parley.test#",
  "http://parley.test?x",
  "http://parley.test.",
  "http://parley.test@evil.example",
  "http://evil.example#parley.test",
  "http://user@parley.test",
  "parley.test",
  "//parley.test",
  "http://parley.test http://evil.example",
  "http://evil.example, http://parley.test",
  "http://PARLEY.TEST",
  "HTTP://parley.test",
  "ws://parley.test",
  "file://",
  "file:///etc/passwd",
  "data:text/html,x",
  "chrome-extension://abcdefgh",
  "about:blank",
  "http://127.0.0.1",
  "http://localhost",
  "http://[::1]",
  "http://xn--parley-test.test",
  "undefined",
  "*",
];

/** Headers that only the Worker writes, or only the platform: a client that sends them gains nothing. */
export const SPOOFED_HEADERS: ReadonlyArray<readonly [name: string, value: string]> = [
  ...["x-parley-upgrade", "X-Parley-Upgrade", "X-PARLEY-UPGRADE"].map(
    (name) =>
      [
        name,
        encodeURIComponent(
          JSON.stringify({ address: "192.0.2.9", query: {}, identity: { user: "ada", name: "Ada", role: "service" } }),
        ),
      ] as const,
  ),
  ["x-parley-upgrade", "%"],
  ["x-parley-upgrade", "null"],
  ["x-parley-upgrade", "{}"],
  ["X-Forwarded-User", "ada"],
  ["X-Remote-User", "ada"],
  ["X-Auth-Request-User", "ada"],
  ["Cf-Access-Authenticated-User-Email", "ada@example.com"],
  ["Forwarded", "for=127.0.0.1;by=127.0.0.1"],
];
