// The three ways to write an object: in one piece, with its metadata in two parts, or in a session of chunks.
import { Buffer } from 'node:buffer';
import { refusal } from '#fakes/refusal.ts';

/** An object on its way. */
export interface Upload {
  readonly bucket: string;
  readonly name: string;
  readonly contentType: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

interface Metadata {
  readonly name?: string;
  readonly contentType?: string;
}

type Query = Readonly<Record<string, unknown>>;

interface Sent {
  readonly bucket: string;
  readonly query: Query;
  readonly headers: Headers;
  readonly content: Uint8Array<ArrayBuffer>;
}

function nameOf({ query }: Pick<Sent, 'query'>, { name }: Metadata): string {
  const found = String(query.name ?? name ?? '');
  if (found === '') throw refusal('required', 'Required object name is missing.', 400);
  return found;
}

export function wholeUpload(sent: Sent): Upload {
  const contentType = sent.headers.get('content-type') ?? 'application/octet-stream';
  return { bucket: sent.bucket, name: nameOf(sent, {}), contentType, content: sent.content };
}

// Clients end lines as they like.
const END_OF_HEADERS = /\r?\n\r?\n/;
const END_OF_PART = /\r?\n$/;

/** `multipart/related`: the metadata as JSON, then the content. */
export function multipartUpload(sent: Sent): Upload {
  const boundary = /boundary=(?:"([^"]+)"|'([^']+)'|([^;]+))/.exec(sent.headers.get('content-type') ?? '');
  const [, ...quoted] = boundary ?? [];
  const parts = Buffer.from(sent.content)
    .toString('latin1')
    .split(`--${quoted.find(Boolean)}`)
    .slice(1, -1);
  const [metadata, media] = parts.map((part) => {
    const { index = 0, 0: gap = '' } = END_OF_HEADERS.exec(part) ?? {};
    const type = /content-type:\s*([^\r\n]+)/i.exec(part.slice(0, index))?.[1];
    const content = part.slice(index + gap.length).replace(END_OF_PART, '');
    return { type, content: Buffer.from(content, 'latin1') };
  });
  if (!metadata || !media) throw refusal('badContent', 'Malformed multipart body.', 400);
  const told = JSON.parse(metadata.content.toString()) as Metadata;
  const contentType = told.contentType ?? media.type ?? 'application/octet-stream';
  return { bucket: sent.bucket, name: nameOf(sent, told), contentType, content: new Uint8Array(media.content) };
}

export interface Sessions {
  /** Answers the id of a new session. */
  begin(sent: Sent): string;
  /** Takes a chunk; answers the object once it is whole, else how many bytes have come. */
  take(id: string, sent: Sent): Upload | number;
}

export function openSessions(): Sessions {
  const sessions = new Map<string, Upload>();
  let serial = 0;
  return {
    begin(sent) {
      const text = Buffer.from(sent.content).toString();
      const told = (text === '' ? {} : JSON.parse(text)) as Metadata;
      const contentType = told.contentType ?? sent.headers.get('x-upload-content-type') ?? 'application/octet-stream';
      serial += 1;
      const id = `upload-${serial}`;
      sessions.set(id, { bucket: sent.bucket, name: nameOf(sent, told), contentType, content: new Uint8Array() });
      return id;
    },
    take(id, { headers, content }) {
      const session = sessions.get(id);
      if (!session) throw refusal('notFound', 'There is no such upload.', 404);
      const whole = { ...session, content: new Uint8Array(Buffer.concat([session.content, content])) };
      // `bytes 0-9/*`: more follows; `bytes */10`: nothing does.
      if (headers.get('content-range')?.endsWith('/*')) {
        sessions.set(id, whole);
        return whole.content.byteLength;
      }
      sessions.delete(id);
      return whole;
    },
  };
}
