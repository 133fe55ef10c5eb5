// Passes: each opens one file for one user for a while, without a token (FILE-10). Used by rooms, which sign them, and by the Worker.
//
//   UNTIL.ROLE.USER.MAC     milliseconds in base 36, the reader's role, the four hexadecimal digits of each unit of
//                           their id, the signature
import { ROLES } from "./roles.ts";
import type { Role } from "./schemas/presence.ts";

export interface FilePass {
  readonly untilMs: number;
  readonly user: string;
  readonly role: Role;
  /** The signature, which only the room can write. */
  readonly mac: string;
}

export const PASS_LENGTH_MAX = 800;

const PASS = /^([0-9a-z]{1,9})\.([a-z]+)\.((?:[0-9a-f]{4})+)\.([0-9a-f]{32})$/;

export function filePass({ untilMs, user, role, mac }: FilePass): string {
  const units = Array.from({ length: user.length }, (_, at) => user.charCodeAt(at).toString(16).padStart(4, "0"));
  return `${untilMs.toString(36)}.${role}.${units.join("")}.${mac}`;
}

/** @returns `undefined` for a text that is no pass */
export function parseFilePass(pass: string): FilePass | undefined {
  const [, until, role, units, mac] = PASS.exec(pass) ?? [];
  const known = ROLES.find((one) => one === role);
  if (known === undefined) return undefined;
  const user = units!.replaceAll(/.{4}/g, (unit) => String.fromCharCode(Number.parseInt(unit, 16)));
  return { untilMs: Number.parseInt(until!, 36), user, role: known, mac: mac! };
}
