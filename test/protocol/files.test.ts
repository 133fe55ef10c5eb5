// Kinds and sizes read from the first bytes of images, real and hostile; types, names and keys of files. FILE-1
import { describe, expect, it } from "vitest";

import { IMAGE_HEAD_BYTES, imageFacts } from "../../src/worker/api/files/image-facts.ts";
import { contentDisposition, fileNameOf, isTypeAllowed, mediaTypeOf } from "../../src/protocol/media-type.ts";
import { fileKey, filesOf, FILE_KEY_LENGTH_MAX, parseFileKey } from "../../src/protocol/file-key.ts";
import { anyCharacter, fc } from "../host/properties.ts";

type Part = string | number | readonly number[];

/** Bytes of texts (one a character), of numbers (one each) and of lists of them. */
function bytes(...parts: readonly Part[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) => {
      if (typeof part === "string") return Array.from(part, (char) => char.charCodeAt(0));
      return typeof part === "number" ? [part] : [...part];
    }),
  );
}

const be = (value: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => Math.floor(value / 256 ** (count - 1 - at)) % 256);
const le = (value: number, count: number): number[] => be(value, count).reverse();
const zeros = (count: number): number[] => Array<number>(count).fill(0);

const png = (width: number, height: number): Uint8Array =>
  bytes(0x89, "PNG\r\n", 0x1a, "\n", be(13, 4), "IHDR", be(width, 4), be(height, 4), 8, 6, 0, 0, 0);

const segment = (marker: number, ...body: readonly Part[]): number[] => {
  const content = [...bytes(...body)];
  return [0xff, marker, ...be(content.length + 2, 2), ...content];
};
const frame = (width: number, height: number, marker = 0xc0): number[] =>
  segment(marker, 8, be(height, 2), be(width, 2), 3, zeros(9));
const jpeg = (...segments: ReadonlyArray<readonly number[]>): Uint8Array =>
  bytes([0xff, 0xd8], ...segments, 0xff, 0xda, 0, 8);
const exif = (orientation: number, order: "II" | "MM"): number[] => {
  const number = order === "II" ? le : be;
  const entry = (tag: number, value: number): number[] => [
    ...number(tag, 2),
    ...number(3, 2),
    ...number(1, 4),
    ...number(value, 2),
    0,
    0,
  ];
  const directory = [...number(2, 2), ...entry(0x0100, 9), ...entry(0x0112, orientation)];
  return segment(0xe1, "Exif\0\0", order, number(42, 2), number(8, 4), directory, zeros(4));
};

/** A TIFF structure in big-endian order: each entry with its tag, type, count and the first two bytes of its value. */
const tiff = (head: string, ...entries: ReadonlyArray<readonly [number, number, number, number]>): number[] => [
  ...bytes(head, be(8, 4), be(entries.length, 2)),
  ...entries.flatMap(([tag, type, count, value]) => [
    ...be(tag, 2),
    ...be(type, 2),
    ...be(count, 4),
    ...be(value, 2),
    0,
    0,
  ]),
  ...zeros(4),
];
const MM = "MM\0*";
const turn = (orientation: number): number[] => tiff(MM, [0x0112, 3, 1, orientation]);
const app1 = (...body: readonly Part[]): number[] => segment(0xe1, "Exif\0\0", ...body);
const crc32 = (body: Uint8Array): number =>
  ~body.reduce((crc, byte) => {
    let next = crc ^ byte;
    for (let bit = 0; bit < 8; bit++) next = (next >>> 1) ^ (next & 1 ? 0xedb88320 : 0);
    return next;
  }, -1) >>> 0;
const chunk = (kind: string, body: readonly number[], isRight = true): number[] => {
  const named = [...bytes(kind), ...body];
  return [...be(body.length, 4), ...named, ...be((crc32(Uint8Array.from(named)) ^ (isRight ? 0 : 1)) >>> 0, 4)];
};
const pngWith = (...chunks: ReadonlyArray<readonly number[]>): Uint8Array =>
  bytes(0x89, "PNG\r\n", 0x1a, "\n", chunk("IHDR", [...be(40, 4), ...be(20, 4), 1, 0, 0, 0, 0]), ...chunks);
const PIXELS = chunk("IDAT", [0]);

const box = (kind: string, ...body: readonly Part[]): number[] => {
  const content = [...bytes(...body)];
  return [...be(content.length + 8, 4), ...bytes(kind), ...content];
};
const ispe = (width: number, height: number): number[] => box("ispe", zeros(4), be(width, 4), be(height, 4));
const avif = (...properties: ReadonlyArray<readonly number[]>): Uint8Array =>
  bytes(
    box("ftyp", "avif", zeros(4), "mif1"),
    box("meta", zeros(4), box("hdlr", zeros(20)), box("iprp", box("ipco", ...properties))),
    box("mdat", zeros(20)),
  );

const webp = (chunk: string, ...body: readonly Part[]): Uint8Array =>
  bytes("RIFF", zeros(4), "WEBP", chunk, le(20, 4), ...body, zeros(20));

describe("an image", () => {
  it.each<[string, Uint8Array, object]>([
    ["PNG", png(640, 480), { type: "image/png", width: 640, height: 480 }],
    ["GIF 87a", bytes("GIF87a", le(3, 2), le(4, 2), zeros(3)), { type: "image/gif", width: 3, height: 4 }],
    ["GIF 89a", bytes("GIF89a", le(300, 2), le(4, 2)), { type: "image/gif", width: 300, height: 4 }],
    [
      "JPEG with a small size behind a restart, which decoders pass over",
      jpeg([0xff, 0xd0, ...be(4 + 19, 2), 0, 0, ...frame(30_000, 30_000)], frame(1, 1)),
      { type: "image/jpeg" },
    ],
    [
      "JPEG with a marker without a length",
      jpeg([0xff, 0x01], frame(7, 9)),
      { type: "image/jpeg", width: 7, height: 9 },
    ],
    ["JPEG", jpeg(segment(0xe0, "JFIF\0"), frame(1024, 768)), { type: "image/jpeg", width: 1024, height: 768 }],
    ["progressive JPEG", jpeg(frame(7, 9, 0xc2)), { type: "image/jpeg", width: 7, height: 9 }],
    [
      "JPEG with tables first",
      jpeg(segment(0xc4, zeros(30)), frame(7, 9)),
      { type: "image/jpeg", width: 7, height: 9 },
    ],
    ["JPEG with filling", jpeg([0xff, 0xff, ...frame(7, 9)]), { type: "image/jpeg", width: 7, height: 9 }],
    [
      "WebP, lossy",
      webp("VP8 ", zeros(3), [0x9d, 1, 0x2a], le(500, 2), le(400, 2)),
      { type: "image/webp", width: 500, height: 400 },
    ],
    ["WebP, lossless", webp("VP8L", 0x2f, le(499 | (399 << 14), 4)), { type: "image/webp", width: 500, height: 400 }],
    [
      "WebP, extended",
      webp("VP8X", zeros(4), le(4999, 3), le(69_999, 3)),
      { type: "image/webp", width: 5000, height: 70_000 },
    ],
    ["AVIF", avif(ispe(1600, 900)), { type: "image/avif", width: 1600, height: 900 }],
    [
      "AVIF with a thumbnail",
      avif(ispe(160, 90), ispe(1600, 900), ispe(40, 40)),
      { type: "image/avif", width: 1600, height: 900 },
    ],
    ["AVIF on its side", avif(ispe(1600, 900), box("irot", 3)), { type: "image/avif", width: 900, height: 1600 }],
    ["AVIF upside down", avif(ispe(1600, 900), box("irot", 2)), { type: "image/avif", width: 1600, height: 900 }],
  ])("%s", (_what, head, facts) => {
    expect(imageFacts(head)).toEqual(facts);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("JPEG with Exif orientation %i is as large as it is shown", (orientation) => {
    const [width, height] = orientation >= 5 ? [768, 1024] : [1024, 768];
    for (const order of ["II", "MM"] as const) {
      expect(imageFacts(jpeg(exif(orientation, order), frame(1024, 768)))).toEqual({
        type: "image/jpeg",
        width,
        height,
      });
    }
  });

  it.each<[string, Uint8Array]>([
    ["PNG that ends early", png(1, 1).slice(0, 20)],
    ["PNG without pixels", png(0, 10)],
    ["PNG larger than can be", png(4_000_000_000, 1)],
    ["JPEG without a frame", jpeg()],
    ["JPEG whose frame is cut", jpeg(segment(0xc0, 8, 0))],
    ["JPEG with a segment of no length", bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, ...frame(5, 5)])],
    ["JPEG with a segment beyond the end", bytes([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff])],
    ["WebP of an unknown kind", webp("VP9 ", zeros(20))],
    ["AVIF without properties", bytes(box("ftyp", "avif"))],
    ["AVIF whose boxes have no length", bytes(box("ftyp", "avif"), zeros(400))],
    ["AVIF with a box longer than all", bytes(box("ftyp", "avis"), be(0xffff_ffff, 4), "meta")],
  ])("%s is one without a size", (_what, head) => {
    const facts = imageFacts(head);
    expect(facts).toEqual({ type: facts!.type });
  });

  it.each<[string, Uint8Array]>([
    ["nothing", bytes()],
    ["a text", bytes("hello, world")],
    ["SVG", bytes("<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ["a page that begins like GIF", bytes("GIF8<script>")],
    ["sound in RIFF", bytes("RIFF", zeros(4), "WAVEfmt ")],
    ["a film", bytes(box("ftyp", "isom"))],
    ["HEIC, which not every browser shows", bytes(box("ftyp", "heic"))],
  ])("%s is no image", (_what, head) => {
    expect(imageFacts(head)).toBeUndefined();
  });

  it("of hostile bytes is read without a throw, and its size is a possible one", () => {
    const heads = [
      png(1, 1),
      jpeg(exif(6, "II"), frame(5, 5)),
      avif(ispe(5, 5)),
      webp("VP8X", zeros(10)),
      bytes("GIF89a"),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...heads),
        fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 30 }),
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(300),
        (head, twists, more, length) => {
          const whole = bytes([...head], [...more]);
          for (const [at, value] of twists) if (at >= 12 && at < whole.length) whole[at] = value;
          const { width = 1, height = 1 } = imageFacts(whole.slice(0, Math.max(12, length))) ?? {};
          expect(width * height).toBeGreaterThan(0);
          expect(Math.max(width, height)).toBeLessThanOrEqual(1_000_000);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("ends its search in a head full of tiny segments or boxes", () => {
    const tiny = Array.from({ length: IMAGE_HEAD_BYTES / 4 }, () => [0xff, 0xe0, 0, 2]).flat();
    expect(imageFacts(bytes([0xff, 0xd8], tiny))).toEqual({ type: "image/jpeg" });
    const boxes = Array.from({ length: 10_000 }, () => box("free")).flat();
    expect(imageFacts(bytes(box("ftyp", "avif"), boxes))).toEqual({ type: "image/avif" });
  });
});

describe("a media type", () => {
  it.each([
    ["image/png", "image/png"],
    ["Text/Plain; charset=utf-8", "text/plain"],
    [" application/vnd.x+json ", "application/vnd.x+json"],
    ["image", undefined],
    ["image/", undefined],
    ["image/png, text/html", undefined],
    ["image/png\r\nX: y", undefined],
    [`image/${"x".repeat(64)}`, undefined],
    ["", undefined],
    [null, undefined],
  ])("of %j is %j", (header, type) => {
    expect(mediaTypeOf(header)).toBe(type);
  });

  it("is allowed whole, by its kind, or by */*", () => {
    expect(isTypeAllowed("audio/ogg", ["image/png", "audio/*"])).toBe(true);
    expect(isTypeAllowed("image/gif", ["image/png", "audio/*"])).toBe(false);
    expect(isTypeAllowed("x/y", ["*/*"])).toBe(true);
  });
});

describe("a file's name", () => {
  it.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\ada\\me.png", "me.png"],
    ["..", "file"],
    ["a\u0000b\r\nSet-Cookie: x.png", "abSet-Cookie: x.png"],
    ["photo\u202Egnp.exe", "photognp.exe"],
    ["x".repeat(300), "x".repeat(200)],
    ['"; filename="evil.html', '"; filename="evil.html'],
  ])("%j becomes %j", (given, name) => expect(fileNameOf(given)).toBe(name));

  it("made of any text fits in a header, and does not change when made again", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (given) => {
        const name = fileNameOf(given);
        expect(name).not.toMatch(/[/\\\p{Cc}]|^$|^\.\.?$/u);
        expect(Array.from(name).length).toBeLessThanOrEqual(200);
        expect(fileNameOf(name)).toBe(name);
        expect(contentDisposition("image/png", name)).toMatch(
          /^inline; filename="[ !#-[\]-~]*"(; filename\*=UTF-8''[\w.~%!#$&+^`|-]+)?$/,
        );
      }),
    );
  });
});

describe("a file's key", () => {
  const KEY = {
    room: "a~room",
    epoch: "e1",
    uploadedMs: 1_795_273_200_000,
    id: "a1b2",
    mac: "0123456789abcdef".repeat(2),
  };

  it("is read as it was written, and sorts by age", () => {
    expect(parseFileKey(fileKey(KEY))).toEqual(KEY);
    expect(fileKey(KEY).startsWith(filesOf(KEY.room, KEY.epoch))).toBe(true);
    const times = [0, 1, 35, 36, 1_795_273_200_000, 1_795_273_200_001, 2 ** 45];
    const keys = times.map((uploadedMs) => fileKey({ ...KEY, uploadedMs }));
    expect(keys.toSorted()).toEqual(keys);
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(FILE_KEY_LENGTH_MAX);
  });

  it("of another form is no key", () => {
    const key = fileKey(KEY);
    const twisted = [
      `${key}0`,
      key.slice(1, -1),
      `../${key}`,
      `${key}/`,
      key.toUpperCase(),
      `x${"~".repeat(64)}${key}`,
      "",
    ];
    for (const each of twisted) expect(parseFileKey(each), each).toBeUndefined();
    fc.assert(fc.property(fc.string(), (text) => parseFileKey(text) === undefined));
  });
});

// Each case as Chromium decodes it.
describe("a picture that says how it lies has the size at which browsers show it", () => {
  const [LYING, UPRIGHT] = [
    { width: 40, height: 20 },
    { width: 20, height: 40 },
  ];
  const FRAME = frame(40, 20);

  it.each<[string, readonly number[], object]>([
    ["right", turn(6), UPRIGHT],
    ["of a long number", tiff(MM, [0x0112, 4, 1, 6]), LYING],
    ["of bytes", tiff(MM, [0x0112, 1, 1, 6]), LYING],
    ["of two numbers", tiff(MM, [0x0112, 3, 2, 6]), LYING],
    ["of no number", tiff(MM, [0x0112, 3, 0, 6]), LYING],
    ["twice, first on its side", tiff(MM, [0x0112, 3, 1, 6], [0x0112, 3, 1, 1]), UPRIGHT],
    ["twice, first upright", tiff(MM, [0x0112, 3, 1, 1], [0x0112, 3, 1, 6]), LYING],
    ["behind one of a long number", tiff(MM, [0x0112, 4, 1, 1], [0x0112, 3, 1, 6]), UPRIGHT],
    ["behind one out of range", tiff(MM, [0x0112, 3, 1, 9], [0x0112, 3, 1, 6]), UPRIGHT],
    ["behind a wrong magic number", tiff("MM\0+", [0x0112, 3, 1, 6]), LYING],
    ["of an unknown order of bytes", tiff("XX\0*", [0x0112, 3, 1, 6]), LYING],
  ])("an entry %s, in a JPEG and in a PNG", (_what, given, size) => {
    expect(imageFacts(jpeg(app1(given), FRAME))).toEqual({ type: "image/jpeg", ...size });
    expect(imageFacts(pngWith(chunk("eXIf", given), PIXELS))).toEqual({ type: "image/png", ...size });
  });

  it.each<[string, ReadonlyArray<readonly number[]>, object]>([
    ["on its side, then upright", [app1(turn(6)), app1(turn(1)), FRAME], UPRIGHT],
    ["upright, then on its side", [app1(turn(1)), app1(turn(6)), FRAME], LYING],
    ["without an orientation, then on its side", [app1(tiff(MM)), app1(turn(6)), FRAME], LYING],
    ["out of range, then on its side", [app1(turn(9)), app1(turn(6)), FRAME], LYING],
    ["empty, then on its side", [app1(), app1(turn(6)), FRAME], LYING],
    ["cut off, then on its side", [app1("MM"), app1(turn(6)), FRAME], LYING],
    ["of another kind (XMP), then on its side", [segment(0xe1, "http://ns"), app1(turn(6)), FRAME], UPRIGHT],
    ["behind the frame header", [FRAME, app1(turn(6))], UPRIGHT],
    ["with another padding", [segment(0xe1, "Exif\0\u0001", turn(6)), FRAME], UPRIGHT],
  ])("JPEG with Exif segments: %s", (_what, segments, size) => {
    expect(imageFacts(jpeg(...segments))).toEqual({ type: "image/jpeg", ...size });
  });

  it.each<[string, ReadonlyArray<readonly number[]>, object]>([
    ["on its side", [chunk("eXIf", turn(8)), PIXELS], UPRIGHT],
    ["behind other chunks", [chunk("tEXt", [97, 0, 98]), chunk("eXIf", turn(6)), PIXELS], UPRIGHT],
    ["behind the pixels", [PIXELS, chunk("eXIf", turn(6))], LYING],
    ["on its side, then upright", [chunk("eXIf", turn(6)), chunk("eXIf", turn(1)), PIXELS], UPRIGHT],
    ["upright, then on its side", [chunk("eXIf", turn(1)), chunk("eXIf", turn(6)), PIXELS], LYING],
    ["with a wrong checksum", [chunk("eXIf", turn(6), false), PIXELS], LYING],
    ["with a wrong checksum, then right", [chunk("eXIf", turn(6), false), chunk("eXIf", turn(6)), PIXELS], UPRIGHT],
    ["in the form of JPEG", [chunk("eXIf", [...bytes("Exif\0\0"), ...turn(6)]), PIXELS], LYING],
    ["cut off", [chunk("eXIf", turn(6)).slice(0, -3)], LYING],
  ])("PNG with eXIf: %s", (_what, chunks, size) => {
    expect(imageFacts(pngWith(...chunks))).toEqual({ type: "image/png", ...size });
  });
});
