// Types of the bindings that tests import from `cloudflare:workers`: those of wrangler.toml and vitest.config.ts.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../../src/index.ts");
    durableNamespaces: "ChatRoom" | "RoomShard" | "Lobby" | "DeadLetters" | "Announcements";
  }
  interface Env {
    CHAT_ROOM: DurableObjectNamespace<import("../../durable/chat-room.ts").ChatRoom>;
    ROOM_SHARD: DurableObjectNamespace<import("../../durable/room-shard.ts").RoomShard>;
    FILES: R2Bucket;
    // The platform's type of a stub loses tuples.
    LOBBY: DurableObjectNamespace<import("../../durable/lobby.ts").Lobby> &
      import("../../src/rpc/bindings.ts").Objects<import("../../src/rpc/lobby.ts").LobbyRpc>;
    DEAD_LETTERS: DurableObjectNamespace<import("../../durable/dead-letters.ts").DeadLetters>;
    ANNOUNCEMENTS: DurableObjectNamespace<import("../../durable/announcements.ts").Announcements>;
    RELAY_QUEUE: Queue;
    JWT_SECRET: string;
    [setting: string]: unknown;
  }
}

declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** Of vite: the modules that a pattern finds, by their paths. */
  glob<Module>(pattern: string, options: { readonly eager: true; readonly import: string }): Record<string, Module>;
}
