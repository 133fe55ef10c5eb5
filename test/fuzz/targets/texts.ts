// Fuzz targets that read small texts: keys of files, names, media types, offsets of a recovery, searches, and the first bytes of pictures.
import { DatabaseSync } from "node:sqlite";

import { renderTerm } from "../../../src/features/search/sql-search-index.ts";
import { termsOf, termsSought } from "../../../src/features/search/indexing.ts";
import { match, parsePhrases, withoutRepeats } from "../../../src/features/search/search-query.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { FILE_KEY_LENGTH_MAX, fileKey, parseFileKey } from "../../../src/protocol/file-key.ts";
import { imageFacts } from "../../../src/worker/api/files/image-facts.ts";
import { contentDisposition, FILE_NAME_LENGTH_MAX, fileNameOf, mediaTypeOf } from "../../../src/protocol/media-type.ts";
import { isRoomName } from "../../../src/protocol/room-name.ts";
import { Recovery } from "../../../src/socketio/recovery/recovery.ts";
import { bytesOf, must, mustEqual, type Target } from "../target.ts";

const MAC = "0123456789abcdef".repeat(2);

const key: Target = {
  name: "file-key",
  seeds: [fileKey({ room: "general", epoch: "e0", uploadedMs: 1795273200900, id: "abc", mac: MAC }), "a!b!c!d"],
  words: ["!", "/", "..", "%2f", "0", "general", MAC],
  run: (input) => {
    const parsed = parseFileKey(input);
    if (!parsed) return;
    must(input.length <= FILE_KEY_LENGTH_MAX && isRoomName(parsed.room), "a key that is none");
    mustEqual(fileKey(parsed), input, "parsed and made again");
  },
};

const fileNames: Target = {
  name: "file-names",
  seeds: ["image/png; charset=x\nphoto.png", "text/plain\n../../etc/passwd", "image/svg+xml\n\u202egpj.exe"],
  words: ["/", "\\", "..", ";", '"', "%", "\r\n", "*=UTF-8''", "image/", "\n"],
  run: (input) => {
    const [header = "", given = ""] = input.split("\n", 2);
    const name = fileNameOf(given);
    must(name !== "" && !/[/\\]/.test(name) && Array.from(name).length <= FILE_NAME_LENGTH_MAX, "a name that is none");
    must(fileNameOf(name) === name, "a name of a name");
    const type = mediaTypeOf(header);
    const disposition = contentDisposition(type ?? "application/octet-stream", name);
    must(/^[\x20-\x7e]+$/.test(disposition), "a header that is none");
    must(type === undefined || /^[!-~]+\/[!-~]+$/.test(type), "a type that is none");
  },
};

const image: Target = {
  name: "image-facts",
  seeds: [
    "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x20\x08\x06",
    "GIF89a\x10\0\x20\0",
    "\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x10\0\x20\x03\x01\x22\0",
    "\xff\xd8\xff\xe1\0\x20Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0\xff\xc0\0\x11\x08\0\x10\0\x20\x03",
    "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0",
    "RIFF\x24\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x10\0\x20\0",
    "RIFF\x24\0\0\0WEBPVP8L\x0a\0\0\0\x2f\0\0\0\0\0\0\0\0\0",
    "\0\0\0\x18ftypavif\0\0\0\0avifmif1\0\0\0\x40meta\0\0\0\0\0\0\0\x30iprp\0\0\0\x28ipco\0\0\0\x14ispe\0\0\0\0\0\0\0\x10\0\0\0\x20",
  ],
  words: [
    "\0\0\0\0",
    "\xff\xff\xff\xff",
    "\x7f\xff\xff\xff",
    "\xff\xda",
    "\xff\xc0",
    "ispe",
    "meta",
    "iprp",
    "ipco",
    "irot",
    "uuid",
    "Exif\0\0",
    "MM\0*",
    "\0\0\0\x01",
  ],
  run: (input) => {
    const facts = imageFacts(bytesOf(input));
    if (!facts) return;
    const { width, height } = facts;
    must((width === undefined) === (height === undefined), "half a size");
    if (width !== undefined)
      must(
        [width, height!].every((side) => Number.isInteger(side) && side > 0 && side <= 1_000_000),
        "no size",
      );
  },
};

const recovery = new Recovery({ epoch: "ab-c.d", key: "k", lastSeq: 1000, since: () => [] }, 60_000);
const OWN = { nsp: "/", owner: "ada" };
const BEGUN = 3;
const begunAt = (seq: number): Recovery =>
  new Recovery({ epoch: "ab-c.d", key: "k", lastSeq: seq, since: () => [] }, 0);
const PID = begunAt(BEGUN).pid(OWN.nsp, "socket-1", OWN.owner);

const recoveryClaim: Target = {
  name: "recovery-claim",
  seeds: [`${PID}\n${recovery.offset(7)}`, `${recovery.pid("/", "socket-1", "ben")}\n${recovery.offset(1000)}`, `\n`],
  words: [PID, "socket-1.", ".", "ab-c.d.", "rs", "-1", "1e3", "Infinity", "NaN", "zzzzzzzzzzzz", "\n"],
  run: (input) => {
    const [pid, offset] = input.split("\n", 2);
    const claim = recovery.claim({ pid, offset }, OWN);
    if (!claim)
      return must(pid !== PID || !/^ab-c\.d\.(0|[1-9a-f])$/.test(offset ?? ""), "a true claim is not believed");
    mustEqual(pid, PID, "believed without its signature");
    must(Number.isInteger(claim.seq) && claim.seq >= 0 && claim.seq <= 1000, "a place that is none");
    must(claim.seq >= BEGUN, "a place before the socket began");
    if (claim.seq > BEGUN) mustEqual(recovery.offset(claim.seq), offset, "two offsets of one place");
  },
};

const index = new DatabaseSync(":memory:");
index.exec("CREATE VIRTUAL TABLE blocks USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii')");
const add = index.prepare("INSERT INTO blocks (rowid, terms) VALUES (1, ?)");
const find = index.prepare("SELECT rowid FROM blocks WHERE blocks MATCH ?");
const empty = index.prepare("INSERT INTO blocks (blocks) VALUES ('delete-all')");

const search: Target = {
  name: "search-query",
  seeds: [
    "hello wor*\nHello, world!",
    '"exact phrase" more\nan exact phrase, and more',
    "東京タワー\n東京タワーに行く",
    "NOT (a OR b)\nnot a or b",
  ],
  words: ['"', "*", "NEAR(", " OR ", " AND ", " NOT ", ":", "^", "東京", "-", "\u0301", "\n", "“", "”"],
  run: (input) => {
    const [query = "", content = ""] = input.split("\n", 2);
    const phrases = withoutRepeats(parsePhrases(query.slice(0, 256)));
    if (phrases.length === 0) return;
    const message: Message = { id: "e-1", seq: 1, room: "r", sender: "ada", name: "Ada", content, timestamp: 1 };
    const isFound = match({ phrases }, message) !== undefined;
    const sought = termsSought({ phrases }).map(renderTerm).join(" AND ");
    if (sought === "") return;
    empty.run();
    add.run([...termsOf(message, { units: 0 })].join(" "));
    const isProposed = find.all(sought).length > 0;
    must(isProposed || !isFound, "the index hides what is looked for");
  },
};

export const TEXT_TARGETS: readonly Target[] = [key, fileNames, image, recoveryClaim, search];
