// The texts to type: letters, digits and signs that every keyboard has.

const PASSAGES = [
  "A room that nobody uses costs nothing. It sleeps with its door open, and when the first guest speaks, it wakes, remembers everything, and answers as if no time had passed.",
  "The ferry left at six, half empty, with two bicycles on deck and a dog that belonged to no one. By the time the harbor lights were gone, the dog had chosen the captain.",
  "Good bread needs four things: flour, water, salt, and an afternoon in which nothing else has to be done. Most people have the first three at home and keep looking for the fourth.",
  "She numbered the drawers from one to ninety, wrote down what was in each of them, and then lost the list. It was in drawer seventeen, where she had put it so that it would be safe.",
  "When the power failed, the whole street came outside to see whether the others had light. Nobody had. They stayed until midnight, and some of them learned their neighbors' names.",
  "Every winter the river moves the same stone a little further down. In a hundred years it will reach the bridge, and someone will wonder who carried it there, and why.",
];

/** @param chance from 0 up to 1. @param before a passage that does not come again at once */
export function passageBy(chance: number, before?: string): string {
  const others = PASSAGES.filter((passage) => passage !== before);
  return others[Math.floor(chance * others.length)]!;
}
