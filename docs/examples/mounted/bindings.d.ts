// The types of `env` and `exports`, as `npx wrangler types` writes them.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("./index.ts");
    durableNamespaces: "ChatRoom";
  }
  interface Env {
    CHAT_ROOM: DurableObjectNamespace<import("./index.ts").ChatRoom>;
  }
}
