// Modules that bundle.ts finds: the one of the simulation, install.ts, and `connect` of the package, whose own types belong to workerd.
declare module "simulation:module" {
  import type { Scenario } from "./scenario.ts";

  const scenario: Scenario;
  export default scenario;
}

declare module "simulation:install" {}

declare module "simulation:connect" {
  interface Answering {
    fetch(request: Request): Promise<Response>;
  }

  export function connect(
    request: Request,
    options: { readonly object: (room: string) => Answering; readonly allowedOrigins: "*" },
  ): Promise<Response>;
}
