// The sound with which the page tells of a message: two short tones, made by the browser. telling.ts plays it.

/** Hertz, and seconds after the beginning. */
const TONES = [
  [660, 0],
  [880, 0.12],
] as const;
const LENGTH_S = 0.3;
const LOUDNESS = 0.12;

let context: AudioContext | undefined;

export function chime(): void {
  context ??= new AudioContext();
  // Until the reader has pressed something on the page, browsers keep it silent.
  void context.resume();
  for (const [hertz, after] of TONES) {
    const begin = context.currentTime + after;
    const tone = new OscillatorNode(context, { frequency: hertz });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.linearRampToValueAtTime(LOUDNESS, begin + 0.01);
    volume.gain.exponentialRampToValueAtTime(0.001, begin + LENGTH_S);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH_S);
  }
}
