// The sound with which the page tells of a message: two short tones, made by the browser. notifier.ts plays it.

/** Hertz, and seconds after the beginning. */
const TONES = [
  [660, 0],
  [880, 0.12],
] as const;
const LENGTH_S = 0.3;
const LOUDNESS = 0.12;

let context: AudioContext | undefined;
/** The sound that plays as soon as the browser lets the page be heard, however many there were. */
let waiting: Promise<void> | undefined;

export function chime(): void {
  context ??= new AudioContext();
  const player = context;
  // Each time: until the reader has pressed something on the page, browsers keep it silent.
  const resumed = player.resume();
  waiting ??= resumed.then(() => play(player)).finally(() => (waiting = undefined));
}

function play(player: AudioContext): void {
  for (const [hertz, after] of TONES) {
    const begin = player.currentTime + after;
    const tone = new OscillatorNode(player, { frequency: hertz });
    const volume = new GainNode(player, { gain: 0 });
    volume.gain.linearRampToValueAtTime(LOUDNESS, begin + 0.01);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + LENGTH_S);
    tone.connect(volume).connect(player.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH_S);
  }
}
