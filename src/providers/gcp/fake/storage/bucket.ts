import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { crc32c } from './crc32c.ts';

export interface StoredObject {
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Microseconds since 1970 when it was written; never the same twice. */
  readonly generation: string;
  readonly atMs: number;
}

export interface FakeBucket {
  readonly name: string;
  readonly createdMs: number;
  put(name: string, content: string | Uint8Array<ArrayBuffer>, contentType?: string): StoredObject;
  get(name: string): StoredObject | undefined;
  remove(name: string): boolean;
  /** All objects, by name. */
  sorted(): readonly StoredObject[];
}

export function openBucket(name: string, clock: Clock): FakeBucket {
  const objects = new Map<string, StoredObject>();
  let order: readonly StoredObject[] | undefined;
  let lastGeneration = 0;
  return {
    name,
    createdMs: clock.now(),
    put(key, content, contentType = 'application/json') {
      lastGeneration = Math.max(lastGeneration + 1, clock.now() * 1_000);
      const object: StoredObject = {
        name: key,
        content: typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content,
        contentType,
        generation: String(lastGeneration),
        atMs: clock.now(),
      };
      objects.set(key, object);
      order = undefined;
      return object;
    },
    get: (key) => objects.get(key),
    remove(key) {
      order = undefined;
      return objects.delete(key);
    },
    sorted() {
      order ??= [...objects.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return order;
    },
  };
}

export const md5Of = ({ content }: StoredObject): string => createHash('md5').update(content).digest('base64');

/** The resource `object` of the API. */
export function resourceOf(bucket: string, object: StoredObject, origin: string): Readonly<Record<string, unknown>> {
  const { name, generation, contentType, content, atMs } = object;
  const path = `storage/v1/b/${bucket}/o/${encodeURIComponent(name)}`;
  const at = new Date(atMs).toISOString();
  return {
    kind: 'storage#object',
    id: `${bucket}/${name}/${generation}`,
    selfLink: `${origin}/${path}`,
    mediaLink: `${origin}/download/${path}?generation=${generation}&alt=media`,
    name,
    bucket,
    generation,
    metageneration: '1',
    contentType,
    storageClass: 'STANDARD',
    size: String(content.byteLength),
    md5Hash: md5Of(object),
    crc32c: crc32c(content),
    etag: Buffer.from(generation).toString('base64'),
    timeCreated: at,
    updated: at,
    timeStorageClassUpdated: at,
  };
}

export const bucketResource = ({ name, createdMs }: FakeBucket, origin: string): object => ({
  kind: 'storage#bucket',
  id: name,
  selfLink: `${origin}/storage/v1/b/${name}`,
  name,
  location: 'US',
  locationType: 'multi-region',
  storageClass: 'STANDARD',
  metageneration: '1',
  timeCreated: new Date(createdMs).toISOString(),
  updated: new Date(createdMs).toISOString(),
  iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
});
