// Stands for the package object-assign, by which socket.io's `cors` copies options: wrangler.jsonc names it.
module.exports = Object.assign;
