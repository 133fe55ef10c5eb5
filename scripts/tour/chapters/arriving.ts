// Tour chapter: joining a room, and the members in it.
import { good, type Stage } from "../stage.ts";

export async function arriving(stage: Stage): Promise<void> {
  stage.chapter("Coming in with a stock Socket.IO client");
  const ada = await stage.person("ada");
  await stage.step("ada connects to a new room: it begins with its first member", () => ada.hears("welcome"));
  await stage.step("she came by long-polling, and is moved to a WebSocket", async () => {
    const { engine } = ada.socket.io;
    if (engine.transport.name !== "websocket") await new Promise((resolve) => engine.once("upgrade", resolve));
    return engine.transport.name;
  });
  const ben = await stage.enter("ben");
  await stage.step("ben comes: ada hears of it", () =>
    ada.hears("presence", ({ joined }) => joined.some(({ user }) => user === "ben")),
  );
  await stage.step("any member may ask for the list of members", async () => good(await ben.ask("presence", {})));

  stage.chapter("A broken line");
  await stage.step("ada's line breaks without a goodbye, and ben says two things meanwhile", async () => {
    ada.socket.io.engine.close();
    for (const content of ["Ada?", "Are you there?"]) good(await ben.ask("chat-message", { content }));
  });
  await stage.step("her client comes back by itself, and has them", async () => [
    await ada.hears("chat-message"),
    await ada.hears("chat-message"),
  ]);
  await stage.step("it was not a new connection: socket.recovered", async () => {
    await ada.hears("welcome");
    if (!ada.socket.recovered) throw new Error("the connection was not recovered");
    return ada.socket.recovered;
  });
  ada.leave();
  ben.leave();
}
