// A Worker of an application, before the chat is in it. templates.test.ts adds the lines that create-parley prints.
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";

interface Env {
  readonly COUNTER: DurableObjectNamespace<Counter>;
}

export class Counter extends DurableObject<Env> {
  add(): number {
    const visits = (this.ctx.storage.kv.get<number>("visits") ?? 0) + 1;
    this.ctx.storage.kv.put("visits", visits);
    return visits;
  }
}

const app = new Hono<{ Bindings: Env }>();

app.get("/", (c) => c.text("My own page"));
app.get("/visits", async (c) => c.text(String(await c.env.COUNTER.getByName("all").add())));

export default app;
