// The client is that of Node, which is nghttp2.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import type { Http2Options } from './connection.ts';
import { ERROR } from './frames.ts';
import type { Http2Stream } from './stream.ts';
import { DONE, framed, OK, serveHttp2 } from './testing.ts';

const WINDOW = 65_535;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

type Settings = NonNullable<ClientSessionOptions['settings']>;

/** A server, and a client that has its settings. */
async function connected(options: Partial<Http2Options> = {}, settings: Settings = {}) {
  const server = await serveHttp2(options);
  const client = connect(`http://127.0.0.1:${server.port}`, { settings });
  client.on('error', () => {});
  open.push(server, { close: () => client.destroy() });
  await new Promise<void>((resolve) => client.once('remoteSettings', () => resolve()));
  return { server, client };
}

/** A server that keeps its streams and says nothing by itself, and what came on all of them. */
async function recorded(settings?: Settings, emptied = (): void => {}) {
  const streams: Http2Stream[] = [];
  const heard: string[] = [];
  const taken = (stream: Http2Stream): void => {
    streams.push(stream);
    stream.listen({
      data: (chunk) => heard.push(`${stream.id} ${chunk}`),
      ended: () => heard.push(`${stream.id} ended`),
      closed: () => heard.push(`${stream.id} closed`),
    });
  };
  const { server, client } = await connected({ taken, emptied }, settings);
  /** A stream on both sides. */
  async function call() {
    const count = streams.length;
    const there = requestOn(client);
    await untilHolds(() => expect(streams).toHaveLength(count + 1));
    return { ...there, here: streams.at(-1) as Http2Stream };
  }
  return { server, client, call, heard };
}

function requestOn(client: ClientHttp2Session, headers: Record<string, string> = {}) {
  const stream = client.request({ ':method': 'POST', ...headers });
  stream.on('error', () => {});
  return { stream, closed: new Promise<number>((resolve) => stream.on('close', () => resolve(stream.rstCode))) };
}

/** All that a client hears on one stream. */
async function answerOn(stream: ClientHttp2Stream) {
  const chunks: Buffer[] = [];
  let trailers: IncomingHttpHeaders = {};
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('trailers', (said) => {
    trailers = said;
  });
  await new Promise((resolve) => stream.once('close', resolve));
  return { body: Buffer.concat(chunks), done: trailers.done };
}

const pinged = (client: ClientHttp2Session): Promise<string> =>
  new Promise((resolve, reject) => {
    client.ping(Buffer.from('eight by'), (error, _ms, payload) =>
      error ? reject(error) : resolve(payload.toString()),
    );
  });

/** Bytes that show where a piece is missing or stands elsewhere. */
function bytesOf(length: number, seed = 0): Buffer {
  const bytes = Buffer.alloc(length);
  for (let n = 0; n < length; n++) bytes[n] = n * 7 + (n >> 8) + seed;
  return bytes;
}

describe('a client', () => {
  test('gets the answers of a hundred streams at once, each its own', async () => {
    const { client } = await connected();
    const bodies = Array.from({ length: 100 }, (_, n) => bytesOf(3_000, n));

    const answers = await Promise.all(bodies.map((body) => answerOn(requestOn(client).stream.end(body))));

    expect(answers).toEqual(bodies.map((body) => ({ body, done: 'yes' })));
  });

  test('sends and gets more than the windows hold, on several streams', async () => {
    const { client } = await connected();
    const bodies = [1, 2, 3].map((seed) => bytesOf(1_000_000, seed));

    const answers = await Promise.all(bodies.map((body) => answerOn(requestOn(client).stream.end(body))));

    expect(answers.map(({ done }) => done)).toEqual(['yes', 'yes', 'yes']);
    expect(answers.map(({ body }, n) => body.equals(bodies[n] as Buffer))).toEqual([true, true, true]);
  });

  test('may end its side with trailers', async () => {
    const { client, heard } = await recorded();
    const stream = client.request({ ':method': 'POST' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ last: 'x' }));

    stream.end('one');

    await untilHolds(() => expect(heard).toEqual(['1 one', '1 ended']));
  });

  test('is understood whatever headers it sends, one request after the other', async () => {
    const requests: ReadonlyMap<string, string>[] = [];
    const { client } = await connected({
      taken(stream, headers) {
        requests.push(headers);
        stream.respond(OK, true);
      },
    });
    const known = fc.constantFrom('accept', 'age', 'cookie', 'etag', 'via', 'authorization', 'www-authenticate');
    const name = fc.oneof(fc.stringMatching(/^x-[a-z0-9-]{1,20}$/), known);
    const value = fc.stringMatching(/^[!-~]([ -~]{0,100}[!-~])?$/);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value, { maxKeys: 12 }), async (headers) => {
        const { stream, closed } = requestOn(client, headers);
        stream.resume().end();
        await closed;

        expect(Object.fromEntries(requests.at(-1) ?? [])).toEqual({
          ':authority': expect.stringContaining('127.0.0.1'),
          ':method': 'POST',
          ':path': '/',
          ':scheme': 'http',
          ...headers,
        });
      }),
      { numRuns: 100 },
    );
  });

  test('that goes away closes all its streams', async () => {
    const { client, call, heard } = await recorded();
    await call();
    await call();

    client.destroy();

    await untilHolds(() => expect(heard).toEqual(expect.arrayContaining(['1 closed', '3 closed'])));
  });

  test('has its pings answered', async () => {
    const { client } = await connected();

    expect(await pinged(client)).toBe('eight by');
  });

  test('answers pings', async () => {
    const { server } = await connected();

    await new Promise<void>((resolve) => server.connections[0]?.ping(resolve));
  });
});

describe('a stream', () => {
  test('that the client resets is closed', async () => {
    const { call, heard } = await recorded();
    const { stream, here } = await call();

    stream.close(constants.NGHTTP2_CANCEL);

    await untilHolds(() => expect(heard).toContain('1 closed'));
    expect(here.isClosed).toBe(true);
  });

  test('that the server resets is closed for the client, with the reason', async () => {
    const { client, call, heard } = await recorded();
    const { closed, here } = await call();

    here.reset(ERROR.refusedStream);

    expect(await closed).toBe(constants.NGHTTP2_REFUSED_STREAM);
    expect(heard).toEqual(['1 closed']);
    expect(await pinged(client)).toBe('eight by');
  });

  test('whose client stops reading is sent little, and the rest when it reads again', async () => {
    const { client, call } = await recorded();
    const { stream, here } = await call();
    stream.pause();
    const body = bytesOf(1_000_000);
    let written = 0;
    here.respond(OK, false);
    for (let at = 0; at < body.length; at += 10_000)
      here.write(framed(body.subarray(at, at + 10_000)), () => {
        written += 10_000;
      });
    here.end(DONE, () => {});
    for (let n = 0; n < 10; n++) await pinged(client);
    expect(written).toBeGreaterThan(0);
    // Its window, and what Node keeps for who will read it.
    expect(written).toBeLessThan(4 * WINDOW);

    const answer = await answerOn(stream.end().resume());

    expect(answer.body.equals(body)).toBe(true);
    await untilHolds(() => expect(written).toBe(body.length));
  });

  test('whose client does not read holds up no other', async () => {
    const { call } = await recorded({ initialWindowSize: 10_000 });
    const slow = await call();
    slow.stream.pause();
    slow.here.respond(OK, false);
    slow.here.write(framed(bytesOf(100_000)), () => {});
    const { stream, here } = await call();

    here.respond(OK, false);
    here.write(framed('quick'), () => {});
    here.end(DONE, () => {});

    expect(await answerOn(stream.end())).toEqual({ body: Buffer.from('quick'), done: 'yes' });
  });

  test('that waits for its window goes on when the client changes its settings', async () => {
    const { client, call } = await recorded({ initialWindowSize: 0 });
    const { stream, here } = await call();
    const body = bytesOf(100_000);
    let received = 0;
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    const answer = answerOn(stream.end());
    here.respond(OK, false);
    here.write(framed(body), () => {});
    here.end(DONE, () => {});
    await pinged(client);
    expect(received).toBe(0);

    client.settings({ initialWindowSize: 20_000 });

    expect((await answer).body.equals(body)).toBe(true);
  });
});

describe('a connection that closes', () => {
  test('says so, and lets open streams finish', async () => {
    const { server, client, call } = await recorded();
    const { stream, here } = await call();
    const farewell = new Promise((resolve) => client.once('goaway', (code, last) => resolve({ code, last })));
    const over = new Promise<void>((resolve) => client.once('close', () => resolve()));

    server.connections[0]?.close();
    expect(await farewell).toEqual({ code: 0, last: 1 });
    const answer = answerOn(stream.end('late'));
    here.respond(OK, false);
    here.write(framed('answer'), () => {});
    here.end(DONE, () => {});

    expect(await answer).toEqual({ body: Buffer.from('answer'), done: 'yes' });
    await over;
  });

  test('is over at once where no stream is open', async () => {
    const { server, client } = await connected();
    const over = new Promise<void>((resolve) => client.once('close', () => resolve()));

    server.connections[0]?.close();

    await over;
  });
});

test('a connection says each time that no stream is open any more', async () => {
  let emptied = 0;
  const { call } = await recorded({}, () => {
    emptied += 1;
  });
  const first = await call();
  const second = await call();
  first.here.reset(ERROR.cancel);
  expect(emptied).toBe(0);
  second.here.reset(ERROR.cancel);
  expect(emptied).toBe(1);

  const third = await call();
  third.here.reset(ERROR.cancel);

  expect(emptied).toBe(2);
});
