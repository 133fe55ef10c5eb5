// The types of @cloudflare/vitest-plugin that objects.ts and clock.ts use. The plugin's own belong to workerd.
declare module "cloudflare:test" {
  interface State {
    readonly storage: { getAlarm(): Promise<number | null>; sync(): Promise<void> };
    getWebSockets(): object[];
    getWebSocketAutoResponseTimestamp(ws: object): Date | null;
  }

  export function evictDurableObject(
    stub: object,
    options: { readonly webSockets: "hibernate" | "close" },
  ): Promise<void>;
  export function abortAllDurableObjects(): Promise<void>;
  export function runInDurableObject<Result>(
    stub: object,
    run: (object: object, state: State) => Promise<Result>,
  ): Promise<Result>;
  export function runDurableObjectAlarm(stub: object): Promise<boolean>;
}
