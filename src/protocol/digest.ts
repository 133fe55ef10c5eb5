// The SHA-256 of a text, at once: the Web Cryptography API only promises one, and a turn of a room cannot wait. Called by rooms and by the Worker.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** @returns 32 bytes */
export const digestOf = (text: string): Uint8Array => sha256(utf8ToBytes(text));
