// The types of `env` and `exports`, as `npx wrangler types` writes them.
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import("./index.ts");
    durableNamespaces: "NotesObject";
  }
  interface Env {
    NOTES: DurableObjectNamespace<import("./notes.ts").NotesObject>;
  }
}
