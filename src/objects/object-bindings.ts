// The bindings of an object, under their usual names. A class says which names it means: that of the rooms has them from createParley, or
// as others from its own `bindings`. Called by durable/chat-room.ts.
import { bindingsOf, missingBindings, withBindings, type Bindings, type BindingNames } from "../rpc/bindings.ts";
import { exportedNamespace } from "../socketio/object/exported-namespace.ts";

/** A class of objects. */
interface Named {
  readonly name: string;
  readonly bindings: BindingNames;
}

/** Bindings of each class, by environment: all objects of a class in an isolate have the same. */
const known = new WeakMap<object, WeakMap<Named, object>>();

/**
 * The room's own binding is the one that the class names, or else the Worker's export of the class: a room reaches rooms of its own
 * kind, however they are bound.
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
  const own = names.room === undefined ? exportedNamespace(ctx) : undefined;
  const withOwn = own === undefined ? env : withBindings(env, { CHAT_ROOM: own });
  const missing = missingBindings(withOwn, names);
  if (missing.length > 0) throw new Error(`${name}: ${missing.join("; ")}`);
  return bindingsOf(withOwn, names);
}
