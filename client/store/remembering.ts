// Keep a part of the state the same object until something in it changes. The parts of the store call them.

/** Gives the last object again while all fields are the same. */
export function steady<State extends object>(): (state: State) => State {
  let last: State | undefined;
  return (state) => {
    const isSame = last && Object.entries(last).every(([name, value]) => value === state[name as keyof State]);
    return isSame ? last! : (last = state);
  };
}

/** Makes a value once for the same parts. */
export function remembering<Parts extends readonly unknown[], Made>(
  make: (...parts: Parts) => Made,
): (...parts: Parts) => Made {
  let last: { readonly parts: Parts; readonly made: Made } | undefined;
  return (...parts) => {
    if (!last?.parts.every((part, at) => part === parts[at])) last = { parts, made: make(...parts) };
    return last.made;
  };
}
