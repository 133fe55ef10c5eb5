// What `cloudflare:workers` hands these tests: the binding of their own wrangler.toml.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("./whiteboard.ts");
    durableNamespaces: "WhiteboardRoom";
  }
  interface Env {
    CHAT_ROOM: DurableObjectNamespace<import("./whiteboard.ts").WhiteboardRoom>;
  }
}
