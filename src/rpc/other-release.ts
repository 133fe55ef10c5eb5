// The failure of an object that another release of the code has left something it cannot read: data, or a request of a Worker that was
// deployed before or after it. Thrown by objects.

export class OtherRelease extends Error {
  override readonly name: string = "OtherRelease";
  /** As the platform marks its own errors, also on their way between objects: the Worker answers 503, and a retry helps later. */
  readonly retryable = true;
}
