// Finds the objects of an object's own class among those that the Worker exports. Called by socketio-object.ts and
// object-bindings.ts.

interface Namespace {
  idFromString(id: string): unknown;
}

/** Names of classes may be a minifier's, but no namespace of the platform takes an id of another one. */
export function exportedNamespace({ exports, id }: DurableObjectState): unknown {
  return Object.values((exports as object | undefined) ?? {}).find((exported) => {
    if (!isNamespace(exported)) return false;
    try {
      exported.idFromString(id.toString());
      return true;
    } catch {
      return false;
    }
  });
}

/** The stub of an entry point seems to have a method of every name, and would call it. */
const isNamespace = (exported: object): exported is Namespace =>
  "idFromString" in exported && !("noSuchMethod" in exported);
