// A reason why create-parley stops, for the reader. Thrown by all its parts; main.ts prints it without a stack.
export class Refusal extends Error {
  override readonly name = "Refusal";
}
