// Calls the hooks of a custom feature from those of the room. Each is foreign code: its errors are logged under its name, and harm
// neither the room nor another feature (OWN-6). Called by custom-features.ts.
import type { Welcome } from "../../protocol/chat-events.ts";
import { REFUSALS, type RefusalCode } from "../../protocol/failures.ts";
import { isStaff } from "../../protocol/roles.ts";
import type { AnyFeature, FeatureConnection } from "../../extension/extension.ts";
import { isPromise } from "../../socketio/server/failures.ts";
import { withChange } from "../log/change.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import { encodeValue } from "../../socketio/wire/value-text.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Caller } from "../room/operation.ts";
import type { Client, Membership } from "../room/room.ts";
import type { CustomRoom } from "./custom-room.ts";
import { atOnce, readRefusal } from "./returned.ts";

export interface HookPorts {
  /** The room as the feature sees it. */
  readonly customRoom: CustomRoom;
  /** The caller that a user who is about to connect would be. */
  readonly newcomer: (membership: Membership) => Caller;
  /** @returns why the feature cannot fill that field of `welcome` */
  readonly takeField: (field: string) => string | undefined;
  /** Logs a failure of the feature. */
  readonly failed: (what: string, error: unknown) => void;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Has only the hooks that the feature has: the room calls no others. */
export function hooksOf(feature: AnyFeature, ports: HookPorts): RoomPart {
  const { customRoom, failed } = ports;
  const run = (hook: string, call: () => unknown): void => {
    try {
      const given = call();
      if (isPromise(given as Promise<unknown>))
        (given as Promise<unknown>).catch((error: unknown) => failed(hook, error));
    } catch (error) {
      failed(hook, error);
    }
  };
  const hooks: Writable<RoomPart> = {
    start: () => {
      customRoom.open();
      if (feature.onLeave) customRoom.watchLeaving((user) => run("onLeave", () => feature.onLeave!(user)));
      run("start", () => feature.start?.());
    },
    onErase: () => {
      run("onErase", () => feature.onErase?.());
      customRoom.state.end();
      return undefined;
    },
  };
  if (feature.admit) hooks.admit = (membership) => admit(feature, membership, ports);
  if (feature.refuse) {
    hooks.refuse = ({ name: event }, caller, payload) => {
      try {
        return readRefusal(atOnce(feature.refuse!(event, customRoom.seen(caller), payload)));
      } catch (error) {
        failed("refuse", error);
        return refuse("INTERNAL", `The event ${event} could not be checked; try again.`);
      }
    };
  }
  const ofConnection = (hook: "onConnect" | "onRestore" | "onDisconnect"): ((client: Client) => void) | undefined =>
    feature[hook] && ((client) => run(hook, () => feature[hook]!(customRoom.connectionOf(client))));
  for (const hook of ["onConnect", "onRestore", "onDisconnect"] as const) {
    const call = ofConnection(hook);
    if (call) hooks[hook] = call;
  }
  if (feature.welcome) hooks.welcome = (client) => welcome(feature, customRoom.connectionOf(client), ports);
  if (feature.onPosted) hooks.onPosted = (messages) => run("onPosted", () => feature.onPosted!(messages));
  if (feature.onChanged) {
    hooks.onChanged = ({ kind, posted, change }) =>
      run("onChanged", () => feature.onChanged!({ kind, message: withChange(posted, change) }));
  }
  if (feature.onTrimmed) hooks.onTrimmed = (firstSeq) => run("onTrimmed", () => feature.onTrimmed!(firstSeq));
  return hooks;
}

function admit(
  feature: AnyFeature,
  membership: Membership,
  { newcomer, failed }: HookPorts,
): ReturnType<NonNullable<RoomPart["admit"]>> {
  const { user, name, role } = newcomer(membership);
  try {
    const refusal = readRefusal(atOnce(feature.admit!({ user, name, role, isModerator: isStaff(role) })));
    if (!refusal) return undefined;
    const { code, message, retryAfterMs } = refusal.error;
    const known: RefusalCode = (REFUSALS as readonly string[]).includes(code) ? (code as RefusalCode) : "FORBIDDEN";
    return deny(known, message, retryAfterMs === undefined ? {} : { retryAfterMs });
  } catch (error) {
    failed("admit", error);
    return deny("UNAVAILABLE", `The room could not check the connection; try again.`);
  }
}

/** The fields that the feature may fill, if they can be sent. */
function welcome(
  feature: AnyFeature,
  connection: FeatureConnection,
  { takeField, failed }: HookPorts,
): Partial<Welcome> {
  try {
    const given = Object.entries(atOnce(feature.welcome!(connection)));
    // An error at sending would cost the connection all of its welcome.
    encodeValue(given);
    const fields = given.filter(([field]) => {
      const problem = takeField(field);
      if (problem) failed("welcome", new Error(problem));
      return problem === undefined;
    });
    return Object.fromEntries(fields);
  } catch (error) {
    failed("welcome", error);
    return {};
  }
}
