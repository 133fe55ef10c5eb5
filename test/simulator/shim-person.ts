// A simulated user with Parley's own client, which is the real one. Only its network and its storage are simulated. Made by
// run.ts and read by verdict.ts.
import type { Socket } from "socket.io-client";

import { connectRoom } from "../../client/core/room.ts";
import type { Room } from "../../client/core/api.ts";
import { FakeLocalStorage } from "../host/fake-local-storage.ts";
import { ORIGIN, Person } from "./person.ts";

export class ShimPerson extends Person {
  room: Room | undefined;
  #last: number | undefined;
  readonly gaps: Array<{ from: number; to: number; reason: string }> = [];
  readonly #storage = new FakeLocalStorage();

  get isConnected(): boolean {
    return this.room?.connection.state === "connected";
  }

  get last(): number | undefined {
    return this.#last;
  }

  override get isSending(): boolean {
    return this.isConnected && this.said.some(({ state }) => state === "open");
  }

  join(): void {
    this.isHere = true;
    this.around.world.within(this.zone, () => {
      if (this.room) this.room.connect();
      else this.#open();
    });
  }

  leave(): void {
    this.isHere = false;
    this.around.world.within(this.zone, () => this.room?.close());
    this.room = undefined;
  }

  reload(forMs: number): void {
    this.leave();
    this.around.world.after(forMs, this.zone, () => this.join());
  }

  #open(): void {
    const { room: name } = this.plan;
    const room = connectRoom(ORIGIN, name, { token: () => this.token(), storage: this.#storage });
    this.room = room;
    this.#last = undefined;
    const isMine = (): boolean => this.room === room;
    room.on("welcome", ({ epoch, lastSeq, presence }) => {
      this.epoch = epoch;
      this.count = presence.count;
      this.#last ??= lastSeq;
    });
    this.typists.follow(room);
    room.on("presence", ({ count }) => (this.count = count));
    room.on("chat-message", (message) => {
      if (!isMine()) return;
      this.seenIds.push(message.id);
      if (this.isLost(message.id)) return void (this.#last = message.seq);
      this.around.witness.handedOn(this.plan.name, message, this.#last);
      this.#last = message.seq;
    });
    room.on("gap", (gap) => {
      this.gaps.push(gap);
      this.around.witness.skipped(this.plan.name, this.epoch ?? "", gap);
      this.#last = gap.to;
    });
    room.on("restart", () => (this.#last = 0));
    room.on("message-state", (state) => {
      const said = this.said.find(({ clientMsgId }) => clientMsgId === state.clientMsgId)!;
      if (state.state === "sent") this.heard(said, state.answer);
      if (state.state !== "failed") return;
      said.state = "failed";
      said.code = state.error.code;
    });
  }

  protected get engine(): { readonly id?: string } | undefined {
    return (this.room?.socket as unknown as Socket | undefined)?.io.engine;
  }

  say(): void {
    if (!this.room) return;
    const { content, clientMsgId } = this.nextText();
    this.around.world.within(this.zone, () => {
      this.room!.send(content, { clientMsgId: clientMsgId! }).catch(() => {});
    });
  }

  attend(to: "all" | "counts"): void {
    this.around.world.within(this.zone, () => void this.room?.attend(to));
  }

  call(event: string, payload: object, done: (answer: unknown) => void = () => {}): void {
    this.around.world.within(this.zone, () => {
      const socket = this.room?.socket as unknown as Socket | undefined;
      if (this.isConnected && socket?.connected) socket.emit(event, payload, done);
    });
  }
}
