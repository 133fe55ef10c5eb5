// Answers requests for addresses that Socket.IO does not have. A server on Node serves the client's files beside its connections; the answer here
// says where to get them. Called by connect.ts, stock-connect.ts and serve-client.ts.
import { refuseRequest } from "../http/refusals.ts";

const NO_CLIENT_FILES =
  "The client's files are not served here: bundle socket.io-client, copy its dist/ to the folder socket.io of your static assets, give `connect` serveClient as otherwise, or load it from a CDN";

/** @param serverPath in the place of `/socket.io` */
export function refuseAddress(pathname: string, serverPath = "/socket.io"): Response {
  const isClientFile = pathname.includes(`${serverPath}/socket.io.`) && /\.js(\.map)?$/.test(pathname);
  return refuseRequest("NOT_FOUND", isClientFile ? NO_CLIENT_FILES : "No such address");
}
