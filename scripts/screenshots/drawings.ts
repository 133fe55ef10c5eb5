// Makes the pictures and the sound that people of the screenshots' story post, so that no licence is needed: a browser draws them. Called by
// stage.ts; tests take `wavOf`.
import type { Browser } from "playwright-core";

const WIDTH = 960;
const HEIGHT = 600;

interface Light {
  /** Of a gradient from the upper edge to the horizon. */
  readonly sky: string;
  /** From the horizon to the lower edge. */
  readonly sea: string;
  /** The sun or the moon, and what it reflects in the sea. */
  readonly disc: string;
  readonly hills: readonly [far: string, near: string];
}

/** The landing page's photo, by the names of the files. */
const LIGHTS: Readonly<Record<string, Light>> = {
  "dawn.png": {
    sky: "#f9c58d 0%, #f492a5 34%, #7a6fb0 58%",
    sea: "#2b4a7d 58.2%, #173057 100%",
    disc: "#ffe3b0",
    hills: ["#5b5590", "#4a4a80"],
  },
  "noon.png": {
    sky: "#5db4ea 0%, #a8dcf5 40%, #e3f4fb 58%",
    sea: "#2a86b5 58.2%, #135a86 100%",
    disc: "#fffbe8",
    hills: ["#6d9a86", "#4d7d6b"],
  },
  "night.png": {
    sky: "#0b1330 0%, #1d2a58 40%, #35457d 58%",
    sea: "#14224a 58.2%, #0a1129 100%",
    disc: "#f1f0dc",
    hills: ["#1e2a50", "#172243"],
  },
};

export interface Drawn {
  readonly type: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** All files of the story by their names. */
export async function drawFiles(browser: Browser): Promise<ReadonlyMap<string, Drawn>> {
  const drawn = new Map<string, Drawn>([
    ["horn.wav", { type: "audio/wav", bytes: hornSound() }],
    ["way back.md", { type: "text/plain", bytes: Buffer.from("Go back to the last version.\n".repeat(64)) }],
  ]);
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
  for (const [name, light] of Object.entries(LIGHTS)) {
    await page.setContent(landingPage(light));
    drawn.set(name, { type: "image/png", bytes: Buffer.from(await page.screenshot()) });
  }
  await page.close();
  return drawn;
}

function landingPage({ sky, sea, disc, hills: [far, near] }: Light): string {
  return `<!doctype html><style>
  body { margin: 0; width: ${WIDTH}px; height: ${HEIGHT}px; overflow: hidden; font-family: system-ui, sans-serif; color: #fff;
    background: linear-gradient(${sky}, ${sea}) }
  svg { position: absolute; inset: 0 }
  h1 { position: absolute; left: 232px; top: 44px; margin: 0; font-size: 56px; line-height: 1.1; text-shadow: 0 2px 18px #2a2a4a99 }
  p { position: absolute; left: 232px; top: 462px; margin: 0; padding: 18px 34px; border-radius: 14px; background: #0b5a6b;
    font-size: 28px; font-weight: 600 }
</style>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}">
  <circle cx="640" cy="330" r="74" fill="${disc}"/>
  <path d="M0 349 L120 290 L210 330 L330 262 L470 349 Z" fill="${far}"/>
  <path d="M250 349 L400 300 L520 349 Z" fill="${near}"/>
  <g fill="${disc}" opacity=".55"><rect x="580" y="362" width="120" height="5" rx="2"/><rect x="602" y="380" width="80" height="5" rx="2"/>
    <rect x="560" y="402" width="150" height="6" rx="3"/><rect x="612" y="428" width="70" height="6" rx="3"/></g>
  <g transform="translate(410 318)"><path d="M0 60 H300 L270 104 H34 Z" fill="#fff"/><path d="M4 68 H297 L292 76 H8 Z" fill="#d9483b"/>
    <rect x="50" y="24" width="196" height="36" rx="6" fill="#fff"/><rect x="92" y="-4" width="96" height="30" rx="6" fill="#fff"/>
    <rect x="196" y="-30" width="26" height="56" rx="3" fill="#d9483b"/>
    <g fill="#2b4a7d"><rect x="64" y="34" width="24" height="14" rx="3"/><rect x="100" y="34" width="24" height="14" rx="3"/>
    <rect x="136" y="34" width="24" height="14" rx="3"/><rect x="172" y="34" width="24" height="14" rx="3"/>
    <rect x="208" y="34" width="24" height="14" rx="3"/><rect x="104" y="5" width="72" height="12" rx="3"/></g></g>
</svg>
<h1>The other shore<br>is 40 minutes away</h1><p>Book a crossing</p>`;
}

const RATE = 8000;
const SOUND_SECONDS = 6;
/** Of a ship's horn, in hertz. */
const TONES = [110, 165, 220];

/** The horn of a ferry. */
const hornSound = (): Buffer<ArrayBuffer> =>
  wavOf(SOUND_SECONDS, (at) => TONES.reduce((sum, tone) => sum + 36 * Math.sin((2 * Math.PI * tone * at) / RATE), 0));

/** A WAV of 8 bits, 8,000 samples a second. @param sample from -128 to 127 */
export function wavOf(seconds: number, sample: (at: number) => number): Buffer<ArrayBuffer> {
  const count = RATE * seconds;
  const head = Buffer.alloc(44);
  head.write("RIFF");
  head.writeUInt32LE(36 + count, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(count, 40);
  return Buffer.concat([head, Buffer.from(Array.from({ length: count }, (_, at) => 128 + sample(at)))]);
}
