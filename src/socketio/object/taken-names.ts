// Methods of a subclass that would hide those of the classes beneath it, which the types do not show to it. Called by durable/chat-room.ts,
// socketio-object.ts and engine-object.ts.

/**
 * @param base the class that is there to be extended
 * @throws Error that names the first method or field that hides a method of it or of a class beneath it
 */
export function refuseTakenNames(object: object, { prototype: base }: { readonly prototype: object }): void {
  for (let part = object; part !== base; part = Object.getPrototypeOf(part) as object)
    for (const name of Object.getOwnPropertyNames(part))
      // A class may have its own `toString`, as any object.
      if (name in base && !(name in {}))
        throw new Error(`${object.constructor.name}: "${name}" hides a method of its base class`);
}
