// The files of a room in R2, as far as the room itself deals with them: it only finds and deletes. Source:
// https://developers.cloudflare.com/r2/api/workers/workers-api-reference/
import { FILES_AT_ONCE, type FileStore } from "../src/chat/files/file-sweep.ts";

export class BucketFiles implements FileStore {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async list(prefix: string, startAfter?: string): Promise<{ keys: string[]; isEnd: boolean }> {
    const { objects, truncated } = await this.#bucket.list({
      prefix,
      limit: FILES_AT_ONCE,
      ...(startAfter !== undefined && { startAfter }),
    });
    return { keys: objects.map(({ key }) => key), isEnd: !truncated };
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#bucket.delete([...keys]);
  }
}
