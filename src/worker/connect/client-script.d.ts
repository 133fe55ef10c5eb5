// The client's file as a text, which serve-client.ts has bundlers put into the Worker: as far as they can.
declare module "socket.io-client/dist/socket.io.js" {
  const script: unknown;
  export default script;
}
