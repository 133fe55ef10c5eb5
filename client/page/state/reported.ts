// The open reports of abuse of the room on the screen, for its moderators: how many there are, and the oldest one. The room view
// owns it.
import type { Report } from "parley-rooms/features";

import { t } from "./language.ts";
import { named } from "./names.ts";
import { featuresOf, storeOf, type FeaturePorts } from "./pins-and-reports.ts";
import type { RoomView } from "./room-view.ts";

export class Reported {
  open = 0;
  oldest: Report | undefined;
  /** Whether the room was asked and has not answered yet, and whether there is something new to ask for meanwhile. */
  #asking: "no" | "yes" | "again" = "no";
  readonly #view: RoomView;
  readonly #ports: FeaturePorts;

  constructor(view: RoomView, ports: FeaturePorts) {
    this.#view = view;
    this.#ports = ports;
    const { room } = storeOf(view);
    room.on("message-reported", ({ sender }) => {
      ports.announce(t("A message of {name} was reported", { name: named(view.people.nameOf(sender)) }));
      void this.load();
    });
    room.on("report-resolved", () => void this.load());
    const reload = ({ id }: { readonly id: string }): void => {
      if (id === this.oldest?.id) void this.load();
    };
    room.on("message-edited", reload);
    room.on("message-deleted", reload);
    room.on("welcome", () => void this.load());
    room.on("moderation", () => void this.load());
  }

  /** Moderators alone may ask. */
  async load(): Promise<void> {
    if (this.#asking !== "no") {
      this.#asking = "again";
      return;
    }
    if (!this.#view.state.me.isModerator || !featuresOf(this.#view).reports) return this.#set(0, undefined);
    this.#asking = "yes";
    const answer = await storeOf(this.#view).ask("reports", { limit: 1 });
    const isStale = (this.#asking as string) === "again";
    this.#asking = "no";
    if (isStale) return this.load();
    if ("reports" in answer) this.#set(answer.open, answer.reports[0]);
  }

  async dismiss({ id }: Report): Promise<void> {
    const asked = storeOf(this.#view).ask("resolve-report", { id, action: "dismiss" });
    await this.#view.actions.done(t("The report was not dismissed."), asked);
    await this.load();
  }

  #set(open: number, oldest: Report | undefined): void {
    this.open = open;
    this.oldest = oldest;
    this.#ports.changed();
  }
}
