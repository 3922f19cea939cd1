import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { type Client, isUnreachable, openClient } from './client.ts';
import { type Answer, broken, openScene, pieces, raw, refusal } from './testing.ts';

function clientOf(answer: Answer): { client: Client; scene: ReturnType<typeof openScene> } {
  const scene = openScene(answer);
  return { client: openClient(scene.cli.find({}), scene.cli.fetch), scene };
}

const faultOf = (thrown: Promise<unknown>): Promise<Fault> =>
  thrown.then(
    () => new Fault('internal', 'It did not fail.'),
    (fault) => fault as Fault,
  );

describe('the client', () => {
  it('sends its token, its query and its body', async () => {
    const { client, scene } = clientOf(() => ({ ok: true }));

    await client.call('/freeze', { method: 'POST', query: { a: 1, b: undefined }, body: { why: 'test' } });

    const [asked] = scene.asked;
    expect(asked).toMatchObject({ method: 'POST', path: '/freeze', query: { a: '1' }, body: { why: 'test' } });
    expect(asked?.headers.get('authorization')).toBe('Bearer secret');
    expect(asked?.headers.get('content-type')).toBe('application/json');
  });

  it('takes the token that a server has left meanwhile, for this call and the next', async () => {
    const scene = openScene(({ headers }) =>
      headers.has('authorization') ? { ok: true } : refusal(401, { kind: 'unauthenticated' }),
    );
    const left = [undefined, 'left late'];
    const place = { address: 'http://server', token: undefined, why: 'given', tokenAgain: () => left.shift() };
    const client = openClient(place, scene.cli.fetch);

    expect((await faultOf(client.call('/pools'))).kind).toBe('unauthenticated');
    await client.call('/pools');
    await client.call('/pools');

    expect(scene.asked.map(({ headers }) => headers.get('authorization'))).toEqual([
      null,
      null,
      'Bearer left late',
      'Bearer left late',
    ]);
    expect(client.place.token).toBe('left late');
  });

  it('reads every page of a list, and no more than was asked for', async () => {
    const { client, scene } = clientOf(({ query }) => {
      const from = Number(query.after ?? 0);
      const items = Array.from({ length: Math.min(Number(query.limit), 1_000) }, (_, n) => from + n);
      return { items, next: from < 2_000 ? String(from + items.length) : undefined };
    });

    expect(await client.list('/pools')).toHaveLength(3_000);
    expect(await client.list('/pools', {}, 1_200)).toHaveLength(1_200);
    expect(scene.asked.map(({ query }) => query.limit)).toEqual(['1000', '1000', '1000', '1000', '200']);
  });

  it('guesses that TLS is meant where a plain connection is cut at once', async () => {
    const { client } = clientOf(() => broken('UND_ERR_SOCKET'));

    const fault = await faultOf(client.call('/pools'));

    expect(fault.message).toContain('No Muster server answers at http://server');
    expect(fault.remedy).toBe(
      'Write https:// if the server is on another machine. Otherwise another program may listen there.',
    );
  });

  it.each(['an answer', 'a certificate that is not trusted'])(
    'says that the server uses TLS where %s shows it, and sends no token there',
    async (shown) => {
      const { client, scene } = clientOf(({ origin }) => {
        if (origin.startsWith('http:')) return broken('UND_ERR_SOCKET');
        return shown === 'an answer' ? {} : broken('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
      });

      const fault = await faultOf(client.call('/pools'));

      expect(fault).toMatchObject({
        kind: 'unavailable',
        message: 'The server at http://server (given) uses TLS.',
        remedy: 'Write https://server.',
      });
      expect(scene.asked.map(({ origin, headers }) => [origin, headers.has('authorization')])).toEqual([
        ['http://server', true],
        ['https://server', false],
      ]);
    },
  );

  it('says where it looked for a token, and how to log in, where it has none', async () => {
    const scene = openScene(() => refusal(401, { kind: 'unauthenticated', detail: 'Send Authorization: Bearer.' }));
    const place = { address: 'http://server', token: undefined, why: 'given', whyNoToken: 'None here.' };

    const fault = await faultOf(openClient(place, scene.cli.fetch).call('/pools'));

    expect(fault.kind).toBe('unauthenticated');
    expect(fault.message).toBe('The server at http://server needs a token. None here.');
    expect(fault.remedy).toContain('muster token create');
    expect(fault.remedy).toContain('muster context add NAME http://server --token-file FILE');
    expect(fault.message + fault.remedy).not.toContain('Bearer');
  });

  it('follows no redirect, so that its token reaches no other address', async () => {
    const elsewhere = () => new Response('', { status: 307, headers: { location: 'http://evil/api/v1/pools' } });
    const { client, scene } = clientOf(elsewhere);

    const fault = await faultOf(client.call('/pools'));

    expect(fault).toMatchObject({ kind: 'invalid', message: expect.stringContaining('redirects to http://evil/') });
    expect(scene.asked.map(({ origin, redirect }) => [origin, redirect])).toEqual([['http://server', 'manual']]);
  });

  it('says that a server without TLS wants a plain address', async () => {
    const { client } = clientOf(() => broken('ERR_SSL_WRONG_VERSION_NUMBER'));

    const fault = await faultOf(client.call('/pools'));

    expect(fault.remedy).toBe('This server does not use TLS: write http:// instead of https://.');
  });

  it('reports a refusal as the fault that it is, without places in a request that the user has not seen', async () => {
    const problem = { kind: 'missing', detail: 'There is no pool x.', at: 'path.pool', remedy: 'See the list.' };
    const { client } = clientOf(() => refusal(404, problem));

    const fault = await faultOf(client.call('/pools/x'));

    expect(fault).toMatchObject({ kind: 'missing', message: 'There is no pool x.', at: undefined });
    expect(fault.remedy).toBe('See the list.');
  });

  it('keeps places in a document', async () => {
    const { client } = clientOf(() => refusal(422, { kind: 'invalid', detail: 'Unknown key.', at: 'line 3' }));

    expect((await faultOf(client.call('/pools'))).at).toBe('line 3');
  });

  it.each([
    [401, 'unauthenticated'],
    [404, 'missing'],
    [418, 'invalid'],
    [502, 'unavailable'],
  ])('takes a bare %d, as a proxy answers it, for %s', async (status, kind) => {
    const { client } = clientOf(() => raw('<html>', { status }));

    expect((await faultOf(client.call('/pools'))).kind).toBe(kind);
  });

  it('takes an answer that breaks off for a break that may pass, of a request that has arrived', async () => {
    for (const status of [200, 500]) {
      const { client } = clientOf(() => raw(pieces(['{"items":['], { breaks: true }), { status }));

      const fault = await faultOf(client.call('/pools'));

      expect(fault.kind).toBe('unavailable');
      expect(isUnreachable(fault)).toBe(false);
    }
  });

  it('says which address it tried when there is no answer', async () => {
    const { client } = clientOf(() => broken('ECONNREFUSED'));

    const fault = await faultOf(client.call('/pools'));

    expect(fault.message).toBe('No Muster server answers at http://server (given): ECONNREFUSED.');
    expect(isUnreachable(fault)).toBe(true);
    expect(isUnreachable(await faultOf(clientOf(() => broken('ECONNRESET')).client.call('/x')))).toBe(false);
  });

  it('reads lines across pieces, and a break in them is one that may pass', async () => {
    const { client } = clientOf(() => raw(pieces(['on', 'e\ntw', 'o\n', 'half'], { breaks: true })));
    const read: string[] = [];

    const fault = await faultOf(
      (async () => {
        for await (const line of await client.lines('/x')) read.push(line);
      })(),
    );

    expect(read).toEqual(['one', 'two']);
    expect(fault.kind).toBe('unavailable');
  });
});
