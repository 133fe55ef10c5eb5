// One chat room = one Durable Object: the chat core over its own SQLite, behind the Socket.IO shell.
import { readSettings, type Settings } from "../src/access/settings.ts";
import { TokenVerifier } from "../src/access/tokens.ts";
import { Chat } from "../src/chat/chat.ts";
import type { Env } from "./env.ts";
import { Server } from "../src/socketio/server.ts";
import type { ServerPorts } from "../src/socketio/session-server.ts";
import { SocketObject, type ObjectLimits } from "./socket-object.ts";
import { SqlMessageLog } from "./sql-message-log.ts";

const DAY_MS = 24 * 3_600_000;

export class ChatRoom extends SocketObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, createChat);
  }
}

function createChat(ctx: DurableObjectState, env: Env, ports: ServerPorts): { server: Server; limits: ObjectLimits } {
  const settings = settingsOf(env);
  // Objects are always addressed by room name, and the platform remembers it through sleep and restarts.
  const room = ctx.id.name!;
  const tokens = new TokenVerifier(settings);
  const chat = new Chat({
    room,
    log: new SqlMessageLog(ctx.storage, {
      room,
      retention: { messages: settings.historyMessages, ageMs: settings.historyDays * DAY_MS },
      nowMs: ports.now(),
      newName,
    }),
    state: ctx.storage.kv,
    authenticate: (token) => tokens.verify(token),
    settings: {
      messageRate: { perSecond: settings.messageRate, burst: settings.messageBurst },
      maxContentLength: settings.maxContentLength,
      editWindowMs: settings.editWindowSeconds * 1000,
      flushWindowMs: settings.flushWindowMs,
      durability: settings.durability,
      maxMembers: settings.maxMembers,
      recoveryWindowMs: settings.recoveryWindowSeconds * 1000,
    },
  });
  return { server: new Server(settings, { static: { "/": chat } }, ports), limits: settings };
}

function settingsOf(env: Env): Settings {
  const result = readSettings(env);
  // The Worker refuses everything while a setting is wrong, so no room is ever asked then.
  if (!result.ok) throw new Error(`bad settings: ${result.problems.join("; ")}`);
  return result.settings;
}

/** Names a room's log, and makes its key: unique, short, and nothing that separates the parts of an id. */
function newName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 20);
}
