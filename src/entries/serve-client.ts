// The entry of the package `parley-rooms/serve-client`: the client's file, for pages that load it from the server.
export { serveClient } from "../worker/connect/serve-client.ts";
