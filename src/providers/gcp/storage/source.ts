import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { openStorageApi } from './api.ts';
import { type GcsConfig, prefixOf } from './config.ts';
import { documentOf, isDocument } from './document.ts';
import { type Bucket, type ListedObject, listObjects } from './objects.ts';

// Far below what a bucket allows from its first request on (5,000 reads a second); enough for 10,000 objects in a minute.
const AT_ONCE = 16;

/** Reads each, several at a time; answers in their order. The first that fails ends the others. */
async function readAll(
  at: Bucket,
  objects: readonly ListedObject[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Document>> {
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  const documents = new Map<string, Document>();
  const waiting = objects.values();
  const readSome = async (): Promise<void> => {
    for (const object of waiting) {
      const document = await documentOf(at, object, either);
      if (document) documents.set(object.name, document);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, objects.length) }, readSome));
    return documents;
  } catch (thrown) {
    failing.abort();
    throw thrown;
  }
}

/** The objects below a prefix of a bucket, each one a document. */
export async function openGcs(config: GcsConfig, context: Context, files?: WatchedFiles): Promise<Source> {
  const api = openStorageApi(config, context, files);
  const at: Bucket = { api, clock: context.clock, bucket: config.bucket };
  const prefix = prefixOf(config);
  return {
    async documents(held, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const objects = (await listObjects(at, prefix, signal)).filter(isDocument);
      const isHeld = ({ name, generation }: ListedObject): boolean => held.get(name) === generation;
      const read = await readAll(
        at,
        objects.filter((object) => !isHeld(object)),
        signal,
      );
      return objects.flatMap((object): readonly Document[] => {
        const { name: key, generation: version } = object;
        const document = isHeld(object) ? { key, version } : read.get(key);
        return document ? [document] : [];
      });
    },
    close: async () => api.close(),
  };
}
