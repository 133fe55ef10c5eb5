// The entry `parley-rooms/engine`: stock servers, of the package socket.io unchanged, in Durable Objects.
export { EngineObject } from "../../durable/engine-object.ts";
export { connect, type StockConnectOptions as ConnectOptions } from "../worker/connect/stock-connect.ts";
export { siblings } from "../stock/sibling-adapter.ts";
