// Methods of a subclass that would hide those of the class beneath it, which the types do not show to it. Called by chat-room.ts.

/** @throws Error that names the first one */
export function refuseTakenNames(object: object, base: { readonly name: string; readonly prototype: object }): void {
  const taken = new Set(Object.getOwnPropertyNames(base.prototype));
  taken.delete("constructor");
  for (let part = object; part !== base.prototype; part = Object.getPrototypeOf(part) as object)
    for (const name of Object.getOwnPropertyNames(part))
      if (taken.has(name))
        throw new Error(`${object.constructor.name}: "${name}" is a name of the chat's own; take another one`);
}
