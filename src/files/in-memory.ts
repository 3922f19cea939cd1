import { type FileContents, noFile, verified } from './contents.ts';

/** For simulations and tests: what it keeps ends with it. */
export function contentsInMemory(): FileContents {
  const kept = new Map<string, Uint8Array>();
  return {
    async receive(content, expected) {
      const pieces: Uint8Array[] = [];
      for await (const piece of verified(content, expected)) pieces.push(piece);
      const whole = Buffer.concat(pieces);
      return {
        bytes: whole.length,
        keep: async () => void kept.set(expected.hash, whole),
        discard: async () => {},
      };
    },
    async *read(hash) {
      const whole = kept.get(hash);
      if (!whole) throw noFile(hash);
      yield whole;
    },
    drop: async (hash) => void kept.delete(hash),
    async *hashes() {
      yield* kept.keys();
    },
    close: async () => {},
  };
}
