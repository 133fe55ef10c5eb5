// A small Socket.IO client for tests: it speaks to the Worker in the same process, over a WebSocket.
import { exports } from "cloudflare:workers";

type Reply = Readonly<Record<string, unknown>>;

export class Client {
  readonly #socket: WebSocket;
  readonly #packets: string[] = [];
  #arrived = (): void => {};
  #acks = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      this.#packets.push(String(data));
      this.#arrived();
    });
    socket.accept();
  }

  /** Enters a room with a token. */
  static async enter(room: string, token: string): Promise<Client> {
    const address = `https://example.com/rooms/${room}/socket.io/?EIO=4&transport=websocket`;
    const { webSocket } = await exports.default.fetch(address, { headers: { Upgrade: "websocket" } });
    const client = new Client(webSocket!);
    client.#socket.send(`40${JSON.stringify({ token })}`);
    await client.#next(/^40/);
    return client;
  }

  /** @returns what the server acks the event with */
  async ask(event: string, payload: object): Promise<Reply> {
    const id = this.#acks++;
    this.#socket.send(`42${id}${JSON.stringify([event, payload])}`);
    const packet = await this.#next(new RegExp(`^43${id}\\[`));
    return (JSON.parse(packet.slice(`43${id}`.length)) as [Reply])[0];
  }

  /** @returns the payload of the next event of that name */
  async event(name: string): Promise<Reply> {
    const packet = await this.#next(new RegExp(`^42\\["${name}",`));
    return (JSON.parse(packet.slice(2)) as [string, Reply])[1];
  }

  leave(): void {
    this.#socket.close(1000);
  }

  async #next(form: RegExp): Promise<string> {
    for (;;) {
      const at = this.#packets.findIndex((packet) => form.test(packet));
      if (at >= 0) return this.#packets.splice(at, 1)[0]!;
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }
}

/** A token for a guest: in production your backend signs tokens. */
export async function guestToken(name: string): Promise<string> {
  const response = await exports.default.fetch("https://example.com/api/guest", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name }),
  });
  return ((await response.json()) as { token: string }).token;
}
