// Hostile calls about announcements and conversations between two people: by callers without a token, by members without the
// right, and by a service with a wrong payload.
import type { HostileRequest } from "./requests.ts";

type Case = Omit<HostileRequest, "name" | "status" | "path" | "method">;

const DIRECT = `dm~${"a".repeat(43)}`;

const to = (path: string, status: number, bodies: Readonly<Record<string, string>>, by: Case = {}): HostileRequest[] =>
  Object.entries(bodies).map(([name, body]) => ({
    name: `${path}: ${name}`,
    method: "POST",
    path,
    body,
    status,
    ...by,
  }));

const gets = (status: number, paths: readonly string[], by: Case = {}): HostileRequest[] =>
  paths.map((path) => ({
    name: `GET ${path.slice(0, 60)} by ${by.isMember ? "a member" : "a stranger"}`,
    path,
    status,
    ...by,
  }));

const member = { isMember: true } as const;
const service = { isService: true } as const;

const STRANGERS: HostileRequest[] = [
  ...to("/api/announce", 401, { "by a stranger": '{"prefix":"","data":1}' }),
  ...to("/api/dms", 401, {
    "by a stranger": '{"user":"ada"}',
    "as somebody, by a stranger": '{"user":"ada","as":{"user":"ben"}}',
  }),
  ...gets(401, ["/api/announce/x", "/api/dms", "/api/dms?as=ada", "/api/stats", `/api/rooms/${DIRECT}/messages`]),
  { name: "a letter thrown away by a stranger", method: "DELETE", path: "/api/relay/dead/x", status: 401 },
];

const MEMBERS: HostileRequest[] = [
  ...to(
    "/api/announce",
    403,
    {
      "to a room, by a member": '{"rooms":["room-attacked"],"data":1}',
      "to all rooms, by a member": '{"prefix":"","data":1}',
      "to people, by a member": '{"users":["ada"],"data":1}',
      "as a service, by a member": '{"users":["ada"],"data":1,"role":"service"}',
    },
    member,
  ),
  ...to(
    "/api/dms",
    400,
    {
      "with oneself": '{"user":"mallory"}',
      "with nobody": '{"user":""}',
      "with a list": '{"user":["ada"]}',
      "with an object": '{"user":{"toString":"ada"}}',
      "with a name of 1,000 characters": `{"user":"${"u".repeat(1000)}"}`,
      "with a line feed": '{"user":"ada\\nERROR forged"}',
      "with a prototype": '{"__proto__":{"user":"ada"}}',
      "with no JSON": "user=ada",
    },
    member,
  ),
  ...to("/api/dms", 403, { "as two others": '{"user":"ada","as":{"user":"ben","name":"Ben"}}' }, member),
  ...gets(
    403,
    [
      "/api/announce/x",
      "/api/dms?as=ada",
      "/api/stats",
      "/api/rooms/room-attacked/stats",
      `/api/rooms/${DIRECT}/messages`,
      `/api/rooms/${DIRECT}`,
      `/api/rooms/${DIRECT}/export`,
    ],
    member,
  ),
  ...gets(
    400,
    [
      "/api/dms?cursor=x",
      "/api/dms?cursor=bnVsbA",
      "/api/dms?cursor=eyJfX3Byb3RvX18iOnt9fQ",
      "/api/dms?cursor=WzFlOTk5LCJ4Il0",
      `/api/dms?cursor=${"A".repeat(500)}`,
      "/api/dms?limit=0",
      "/api/dms?limit=1e9",
      "/api/dms?limit=-1",
      "/api/dms?limit=all",
    ],
    member,
  ),
  { name: "a letter thrown away by a member", method: "DELETE", path: "/api/relay/dead/x", status: 403, ...member },
];

const SERVICES: HostileRequest[] = [
  ...to(
    "/api/announce",
    400,
    {
      "to nobody": '{"data":1}',
      "to rooms and people": '{"rooms":["a"],"users":["ada"],"data":1}',
      "to no rooms": '{"rooms":[],"data":1}',
      "to a room that is none": '{"rooms":["../../etc"],"data":1}',
      "to 5,001 rooms": `{"rooms":${JSON.stringify(Array.from({ length: 5001 }, (_, i) => `r${i}`))},"data":1}`,
      "to people who are numbers": '{"users":[1,2],"data":1}',
      "to a prefix of 65 characters": `{"prefix":"${"p".repeat(65)}","data":1}`,
      "as Socket.IO": '{"rooms":["a"],"event":"connect","data":1}',
      "as the chat's welcome": '{"rooms":["a"],"event":"welcome","data":{}}',
      "as the chat's moderation": '{"rooms":["a"],"event":"moderation","data":{"action":"ban","user":"ada"}}',
      "as an event of 129 characters": `{"rooms":["a"],"event":"${"e".repeat(129)}","data":1}`,
      "of a message to people": '{"users":["ada"],"event":"chat-message","data":{"content":"x"}}',
      "of a message with a sender": '{"rooms":["a"],"event":"chat-message","data":{"content":"x","sender":"ada"}}',
      "of an empty message": '{"rooms":["a"],"event":"chat-message","data":{"content":" "}}',
      "of 10,000 levels": `{"rooms":["a"],"data":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
      "under an empty key": '{"rooms":["a"],"data":1,"idempotencyKey":""}',
    },
    service,
  ),
  ...to(
    "/api/announce",
    413,
    {
      "of 2 MB": `{"rooms":["a"],"data":"${"x".repeat(2_000_000)}"}`,
      "of a message of 60,000 characters": `{"rooms":["a"],"event":"chat-message","data":{"content":"${"x".repeat(60_000)}"}}`,
    },
    service,
  ),
  { name: "an announcement that never was", path: "/api/announce/__proto__", status: 404, ...service },
];

export const HOSTILE_CALLS: readonly HostileRequest[] = [...STRANGERS, ...MEMBERS, ...SERVICES];
