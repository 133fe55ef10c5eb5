// Makes a value once for the same parts, so that a part of the state is the same object until something in it changes. The parts of
// the store call it.

export function remembering<Parts extends readonly unknown[], Made>(
  make: (...parts: Parts) => Made,
): (...parts: Parts) => Made {
  let last: { readonly parts: Parts; readonly made: Made } | undefined;
  return (...parts) => {
    if (!last?.parts.every((part, at) => part === parts[at])) last = { parts, made: make(...parts) };
    return last.made;
  };
}
