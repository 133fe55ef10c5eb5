// A WebSocket as far as a transport of the client needs one; the test is its other end.

const SEPARATOR = "\x1e";

export class FakeWebSocket {
  readonly sent: unknown[] = [];
  isClosed = false;
  onopen?: () => void;
  onclose?: (event: object) => void;
  onmessage?: (event: { data: unknown }) => void;
  readonly url: URL;

  constructor(url: string) {
    this.url = new URL(url);
  }

  send(frame: unknown): void {
    this.sent.push(frame);
  }

  close(): void {
    this.isClosed = true;
    this.onclose?.({});
  }

  receive(...packets: string[]): void {
    this.onmessage?.({ data: packets.join(SEPARATOR) });
  }
}
