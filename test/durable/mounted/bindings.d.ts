// Types of the bindings that these tests import from `cloudflare:workers`: those of docs/examples/kinds/wrangler.toml.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("../../../docs/examples/kinds/index.ts");
    durableNamespaces: "ChatRoom" | "Lobby" | "DeadLetters" | "SupportRoom" | "SupportLobby" | "BoardObject";
  }
  interface Env {
    CHAT_ROOM: DurableObjectNamespace<import("../../../durable/chat-room.ts").ChatRoom>;
    BOARDS: DurableObjectNamespace<import("../../../docs/examples/kinds/index.ts").BoardObject>;
    DESKS: DurableObjectNamespace<import("../../../docs/examples/kinds/index.ts").SupportRoom>;
    LETTERS: Queue;
    FILES: R2Bucket;
    JWT_SECRET: string;
    [setting: string]: unknown;
  }
}
