// Stands for packages that only a server on Node needs, for HTTP and for the log of `DEBUG`: wrangler.jsonc names them. As `debug` it is called in
// several ways: require("debug")("name"), require("debug").default("name"), import { debug } from "debug".
module.exports = () => () => {};
module.exports.default = module.exports.debug = module.exports;
