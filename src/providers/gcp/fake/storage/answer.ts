// The JSON API of Cloud Storage: https://cloud.google.com/storage/docs/json_api/v1.
import { refusal } from '#fakes/refusal.ts';
import type { GcpCall } from '../read-call.ts';
import type { World } from '../world.ts';
import { bucketResource, type FakeBucket, md5Of, openBucket, resourceOf, type StoredObject } from './bucket.ts';
import { crc32c } from './crc32c.ts';
import { listObjects } from './list-objects.ts';
import { partOf } from './partial-answer.ts';
import { multipartUpload, openSessions, type Sessions, type Upload, wholeUpload } from './uploads.ts';

/** What this Google stores. */
export interface Storage {
  readonly buckets: Map<string, FakeBucket>;
  readonly sessions: Sessions;
  /** Objects that nobody may read. */
  readonly sealed: Set<string>;
  largestPage: number;
  emptyPages: number;
  /** As an emulator is: nobody is asked who he is. */
  isOpen: boolean;
}

export const openStorage = (): Storage => ({
  buckets: new Map(),
  sessions: openSessions(),
  sealed: new Set(),
  largestPage: 1_000,
  emptyPages: 0,
  isOpen: false,
});

type Body = Readonly<Record<string, unknown>>;

const PATH = /\/b(?:\/([^/]+)(?:\/o(?:\/(.+))?)?)?$/;

const originOf = ({ headers }: GcpCall): string =>
  headers.has('host') ? `http://${headers.get('host')}` : 'https://storage.googleapis.com';

function checkGeneration({ body }: GcpCall, object: StoredObject | undefined): void {
  const wanted = body.ifGenerationMatch;
  if (wanted === undefined || String(wanted) === (object?.generation ?? '0')) return;
  throw refusal('conditionNotMet', 'At least one of the pre-conditions you specified did not hold.', 412);
}

function media({ headers }: GcpCall, object: StoredObject): Response {
  const { content, contentType, generation } = object;
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.get('range') ?? '') ?? [];
  const from = Number(first ?? 0);
  const part = content.slice(from, last ? Number(last) + 1 : undefined);
  const range = `bytes ${from}-${from + part.byteLength - 1}/${content.byteLength}`;
  return new Response(part, {
    status: first === undefined ? 200 : 206,
    headers: {
      'content-type': contentType,
      'x-goog-generation': generation,
      'x-goog-hash': `crc32c=${crc32c(content)},md5=${md5Of(object)}`,
      'x-goog-stored-content-length': String(content.byteLength),
      ...(first !== undefined && { 'content-range': range }),
    },
  });
}

export function answerStorage(call: GcpCall, world: World): Response {
  const { storage, clock } = world;
  const { body: query, action, headers, content } = call;
  const origin = originOf(call);
  const [, bucketName = '', key = ''] = PATH.exec(call.path) ?? [];
  const name = decodeURIComponent(key);

  const shown = (body: Body): Response =>
    Response.json(query.fields === undefined ? body : partOf(body, String(query.fields)));

  function bucketOf(): FakeBucket {
    const bucket = storage.buckets.get(bucketName);
    if (!bucket) throw refusal('notFound', 'The specified bucket does not exist.', 404);
    return bucket;
  }

  function objectOf(): StoredObject {
    const object = bucketOf().get(name);
    // Without versioning, a generation that was replaced is gone.
    if (object && (query.generation === undefined || String(query.generation) === object.generation)) return object;
    throw refusal('notFound', `No such object: ${bucketName}/${name}`, 404);
  }

  function stored(upload: Upload): Response {
    const bucket = bucketOf();
    checkGeneration(call, bucket.get(upload.name));
    return shown(resourceOf(bucketName, bucket.put(upload.name, upload.content, upload.contentType), origin));
  }

  function insert(): Response {
    bucketOf();
    const sent = { bucket: bucketName, query, headers, content };
    if (query.uploadType === 'multipart') return stored(multipartUpload(sent));
    if (query.uploadType !== 'resumable') return stored(wholeUpload(sent));
    if (query.upload_id === undefined) {
      const location = `${origin}${call.path}?uploadType=resumable&upload_id=${storage.sessions.begin(sent)}`;
      return new Response(null, { status: 200, headers: { location } });
    }
    const taken = storage.sessions.take(String(query.upload_id), sent);
    if (typeof taken !== 'number') return stored(taken);
    return new Response(null, { status: 308, headers: taken > 0 ? { range: `bytes=0-${taken - 1}` } : {} });
  }

  switch (action) {
    case 'storage.buckets.list':
      return shown({
        kind: 'storage#buckets',
        items: [...storage.buckets.values()].map((one) => bucketResource(one, origin)),
      });
    case 'storage.buckets.create': {
      const { name: wanted } = JSON.parse(Buffer.from(content).toString()) as { readonly name: string };
      if (storage.buckets.has(wanted)) throw refusal('conflict', 'The requested bucket name is not available.', 409);
      const bucket = openBucket(wanted, clock);
      storage.buckets.set(wanted, bucket);
      return shown(bucketResource(bucket, origin) as Body);
    }
    case 'storage.buckets.get':
      return shown(bucketResource(bucketOf(), origin) as Body);
    case 'storage.objects.list': {
      const { largestPage, emptyPages } = storage;
      return shown(listObjects({ bucket: bucketOf(), query, origin, nowMs: clock.now(), largestPage, emptyPages }));
    }
    case 'storage.objects.get': {
      const object = objectOf();
      if (storage.sealed.has(name)) throw refusal('forbidden', 'Permission denied by a condition.', 403);
      checkGeneration(call, object);
      return query.alt === 'media' ? media(call, object) : shown(resourceOf(bucketName, object, origin));
    }
    case 'storage.objects.delete':
      checkGeneration(call, objectOf());
      bucketOf().remove(name);
      return new Response(null, { status: 204 });
    default:
      return insert();
  }
}
