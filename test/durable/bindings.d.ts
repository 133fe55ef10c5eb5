// Types of the bindings that tests import from `cloudflare:workers`: those of wrangler.toml and vitest.config.ts.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../../src/index.ts");
    durableNamespaces: "ChatRoom" | "RoomShard" | "Lobby" | "DeadLetters" | "Announcements";
  }
  interface Env {
    // Features add their calls to the class.
    CHAT_ROOM: DurableObjectNamespace<
      import("../../durable/chat-room.ts").ChatRoom &
        import("../../src/rpc/announcements.ts").AnnounceRpc &
        import("../../src/rpc/direct-messages.ts").DirectRpc &
        import("../../src/rpc/lobby.ts").ListedRpc &
        import("../../src/rpc/relay.ts").RelayRpc
    >;
    ROOM_SHARD: DurableObjectNamespace<import("../../durable/room-shard.ts").RoomShard>;
    FILES: R2Bucket;
    // The platform's type of a stub loses tuples.
    LOBBY: DurableObjectNamespace<import("../../src/features/directory/object.ts").Lobby> &
      import("../../src/rpc/bindings.ts").Objects<import("../../src/rpc/lobby.ts").LobbyRpc>;
    DEAD_LETTERS: DurableObjectNamespace<import("../../src/features/dead-letters/object.ts").DeadLetters>;
    ANNOUNCEMENTS: DurableObjectNamespace<import("../../src/features/announcements/object.ts").Announcements>;
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
