// Types of the bindings that these tests import from `cloudflare:workers`: those of their own wrangler.toml.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("./worker.ts");
    durableNamespaces: "WhiteboardRoom" | "Halls" | "GuestbookRoom" | "LeagueRoom" | "BoardRoom";
  }
  interface Env {
    JWT_SECRET: string;
    BOARD: DurableObjectNamespace<import("../../../docs/examples/board/index.ts").BoardRoom>;
    GUESTBOOK: DurableObjectNamespace<import("./guestbook.ts").GuestbookRoom>;
    HALLS: DurableObjectNamespace<import("./halls.ts").Halls>;
    LEAGUE: DurableObjectNamespace<import("./league.ts").LeagueRoom>;
    CHAT_ROOM: DurableObjectNamespace<import("./whiteboard.ts").WhiteboardRoom>;
  }
}
