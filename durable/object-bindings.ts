// The bindings of an object, under their usual names. Options of createParley do not reach objects, so a class says itself which names it
// means. Called by chat-room.ts and announcements.ts.
import { bindingsOf, missingBindings, withBindings, type Bindings, type BindingNames } from "../src/rpc/bindings.ts";

/** A class of objects. */
interface Named {
  readonly name: string;
  readonly bindings: BindingNames;
}

/** Bindings of each class, by environment: all objects of a class in an isolate have the same. */
const known = new WeakMap<object, WeakMap<Named, object>>();

/**
 * The room's own binding is the one that the class names, or else that of the Worker's export of the same name: a room reaches rooms of
 * its own kind, however they are bound.
 * @throws Error that names the bindings which the class means and the Worker does not have
 */
export function objectBindings<Env extends Bindings>(ctx: DurableObjectState, env: Env, of: Named): Env {
  const ofEnv = known.get(env) ?? new WeakMap<Named, object>();
  known.set(env, ofEnv);
  const bindings = ofEnv.get(of) ?? namedBindings(ctx, env, of);
  ofEnv.set(of, bindings);
  return bindings as Env;
}

function namedBindings(ctx: DurableObjectState, env: Bindings, { name, bindings: names }: Named): Bindings {
  const exported = (ctx.exports as Readonly<Record<string, unknown>> | undefined)?.[name];
  const isExported = names.room === undefined && isRooms(exported);
  const withOwn = isExported ? withBindings(env, { CHAT_ROOM: exported }) : env;
  const missing = missingBindings(withOwn, names);
  if (missing.length > 0) throw new Error(`${name}: ${missing.join("; ")}`);
  return bindingsOf(withOwn, names);
}

const isRooms = (exported: unknown): exported is Bindings["CHAT_ROOM"] =>
  typeof (exported as { readonly getByName?: unknown } | undefined)?.getByName === "function";
