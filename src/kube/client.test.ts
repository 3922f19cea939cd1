import { describe, expect, it } from 'vitest';
import type { ClusterCredential } from '#core/cluster-access.ts';
import { going } from '#core/testing/going.ts';
import { isAlreadyThere, isExpired, isObjectMissing, isResourceUnknown } from './faults.ts';
import { PODS, SECRETS } from './resource.ts';
import { aList, aPod, collected, json, openScripted, openStream, refusal } from './testing.ts';

const AGENT_POOLS = { group: 'velda.io', version: 'v1', plural: 'agentpools', kind: 'AgentPool', isNamespaced: true };

describe('a list', () => {
  it('is read page by page to the end, and its objects say what they are', async () => {
    const { kube, script, requests } = openScripted();
    script.answering = ({ query }) =>
      query.continue === undefined ? aList(5, [aPod('a', 1)], 'more') : aList(5, [aPod('b', 2)]);
    const pods = await kube.list(PODS, { namespace: 'ml', labelSelector: 'app=x' }, going());

    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(pods[0]).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
    expect(requests.map(({ path, query }) => [path, query])).toEqual([
      ['/api/v1/namespaces/ml/pods', { labelSelector: 'app=x', limit: '25' }],
      ['/api/v1/namespaces/ml/pods', { labelSelector: 'app=x', limit: '25', continue: 'more' }],
    ]);
  });

  it('begins again where the API server has forgotten a page, and shows nothing twice', async () => {
    const { kube, script } = openScripted();
    let forgotten = 0;
    script.answering = ({ query }) => {
      if (query.continue === undefined) return aList(5, [aPod('a', 1)], 'more');
      return forgotten++ === 0 ? refusal(410, 'Expired') : aList(5, [aPod('b', 2)]);
    };
    const pods = await kube.list(PODS, {}, going());

    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  });

  it('that is forgotten every time is a fault', async () => {
    const { kube, script } = openScripted();
    script.answering = ({ query }) => (query.continue ? refusal(410, 'Expired') : aList(5, [aPod('a', 1)], 'more'));

    await expect(kube.list(PODS, {}, going())).rejects.toMatchObject({ kind: 'stale' });
  });

  it.each([
    ['is cut off', () => new Response('{"metadata": {"resourceVersion": "5"}, "items": [{"meta')],
    ['is the page of a proxy', () => new Response('<html>hello</html>')],
    ['is no list', () => json({ kind: 'PodList' })],
  ])('that %s is a fault, never a short list', async (_, answering) => {
    const { kube, script } = openScripted();
    script.answering = answering;

    await expect(kube.list(PODS, {}, going())).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that never comes ends in a fault after a while, and at once when it is given up', async () => {
    const { kube, clock } = openScripted();
    const waiting = kube.list(PODS, {}, going());
    const givenUp = new AbortController();
    const left = kube.list(PODS, {}, givenUp.signal);
    waiting.catch(() => {});
    givenUp.abort();

    await expect(left).rejects.toMatchObject({ kind: 'unavailable' });
    await clock.advance(60_000);
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a refusal', () => {
  const PVC = { name: 'p', kind: 'pods' };
  it.each([
    [refusal(409, 'AlreadyExists', 'pods "p" already exists', PVC), 'conflict', undefined],
    [refusal(409, 'Conflict', 'the object has been modified', PVC), 'stale', undefined],
    [refusal(404, 'NotFound', 'pods "p" not found', PVC), 'missing', undefined],
    [refusal(422, 'Invalid', 'Pod "p" is invalid: spec.containers: Required value', PVC), 'invalid', undefined],
    [refusal(410, 'Expired', 'too old'), 'stale', undefined],
    [refusal(403, 'Forbidden', 'pods "p" is forbidden: exceeded quota: team', PVC), 'quota', undefined],
    [refusal(403, 'Forbidden', 'User "x" cannot create resource "pods"', PVC), 'denied', undefined],
    [refusal(401, 'Unauthorized'), 'unauthenticated', undefined],
    [json({ kind: 'Status', code: 429, reason: 'TooManyRequests' }, 429, { 'retry-after': '3' }), 'throttled', 3_000],
    [new Response('no healthy upstream', { status: 503, headers: { 'retry-after': '2' } }), 'unavailable', 2_000],
    [refusal(504, 'Timeout', 'slow', { retryAfterSeconds: 4 }), 'unavailable', 4_000],
    [refusal(500, 'InternalError', 'webhook failed'), 'unavailable', undefined],
    [new Response('', { status: 302, headers: { location: 'https://login.test' } }), 'unavailable', undefined],
  ])('%# is known by its kind, and keeps the words of the API server', async (response, kind, retryAfterMs) => {
    const { kube, script } = openScripted();
    script.answering = () => response.clone();

    await expect(kube.create(PODS, aPod('p', 1), going())).rejects.toMatchObject({ kind, retryAfterMs });
  });

  it('for want of rights names verb, resource and namespace, and the rule that is missing', async () => {
    const { kube, script } = openScripted();
    script.answering = () =>
      refusal(
        403,
        'Forbidden',
        'agentpools.velda.io is forbidden: User "u" cannot list resource "agentpools" in API group "velda.io" in the namespace "ml"',
      );
    const fault = await kube.list(AGENT_POOLS, { namespace: 'ml' }, going()).catch((thrown) => thrown);

    expect(fault.message).toBe(
      'https://kube.test refused to list agentpools.velda.io in namespace ml: 403: agentpools.velda.io is forbidden: User "u" cannot list resource "agentpools" in API group "velda.io" in the namespace "ml"',
    );
    expect(fault.remedy).toBe(
      'Add this rule to its Role of namespace ml: {apiGroups: ["velda.io"], resources: ["agentpools"], verbs: ["list"]}.',
    );
  });

  it('tells an absent object from a resource that the API server does not know', async () => {
    const { kube, script } = openScripted();
    const unknown = [
      () => refusal(404, 'NotFound', 'the server could not find the requested resource'),
      () => new Response('404 page not found\n', { status: 404 }),
    ];
    for (const answering of unknown) {
      script.answering = answering;
      const fault = await kube.list(AGENT_POOLS, {}, going()).catch((thrown) => thrown);
      expect([isResourceUnknown(fault), isObjectMissing(fault), fault.message]).toEqual([
        true,
        false,
        'The API server https://kube.test has no resource agentpools.velda.io.',
      ]);
      await expect(kube.get(AGENT_POOLS, { namespace: 'ml', name: 'a' }, going())).rejects.toMatchObject({
        kind: 'missing',
      });
    }
    script.answering = () => refusal(404, 'NotFound', 'not found', { name: 'a', kind: 'agentpools' });

    expect(await kube.get(AGENT_POOLS, { namespace: 'ml', name: 'a' }, going())).toBeUndefined();
  });

  it('is identified by its reason', async () => {
    const { kube, script } = openScripted();
    script.answering = () => refusal(409, 'AlreadyExists', 'there', { name: 'p' });
    const there = await kube.create(PODS, aPod('p', 1), going()).catch((thrown) => thrown);
    script.answering = () => refusal(410, 'Gone');
    const gone = await kube.list(PODS, {}, going()).catch((thrown) => thrown);

    expect([isAlreadyThere(there), isAlreadyThere(gone), isExpired(there), isExpired(gone)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('a credential', () => {
  function openRotating() {
    let count = 1;
    let refused = 0;
    const scripted = openScripted({
      credential: async (): Promise<ClusterCredential> => ({ headers: { authorization: `Bearer t${count}` }, tls: {} }),
      refused() {
        refused += 1;
        count += 1;
      },
    });
    scripted.script.answering = ({ headers }) =>
      headers.authorization === 'Bearer t1' ? refusal(401, 'Unauthorized') : aList(1, []);
    return { ...scripted, refused: () => refused };
  }

  it('that is refused is renewed, and the request is made once again', async () => {
    const { kube, requests } = openRotating();
    await kube.list(PODS, {}, going());

    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  it('that several requests were refused with is renewed once', async () => {
    const { kube, refused } = openRotating();
    await Promise.all([kube.list(PODS, {}, going()), kube.list(PODS, {}, going()), kube.list(PODS, {}, going())]);

    expect(refused()).toBe(1);
  });

  it('that is refused for good is a fault', async () => {
    const { kube, script, requests } = openRotating();
    script.answering = () => refusal(401, 'Unauthorized');

    await expect(kube.list(PODS, {}, going())).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(requests).toHaveLength(2);
  });
});

describe('a change', () => {
  it.each([
    [{ merge: { a: null } }, 'application/merge-patch+json', {}, { a: null }],
    [
      { json: [{ op: 'add', path: '/a', value: 1 }] },
      'application/json-patch+json',
      {},
      [{ op: 'add', path: '/a', value: 1 }],
    ],
    [
      { apply: { metadata: { name: 'p' } }, fieldOwner: 'muster', isForced: true },
      'application/apply-patch+yaml',
      { fieldManager: 'muster', force: 'true' },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
    ],
  ] as const)('%# is sent as the API server wants it', async (patch, type, query, body) => {
    const { kube, script, requests } = openScripted();
    script.answering = () => json(aPod('p', 2));
    await kube.patch(PODS, { namespace: 'ml', name: 'p', subresource: 'status' }, patch, going());

    expect(requests[0]).toMatchObject({ method: 'PATCH', path: '/api/v1/namespaces/ml/pods/p/status', query, body });
    expect(requests[0]?.headers['content-type']).toBe(type);
  });

  it('deletes only the object of that uid; an absent one is a success', async () => {
    const { kube, script, requests } = openScripted();
    script.answering = () => refusal(404, 'NotFound', 'gone', { name: 'p', kind: 'pods' });
    const options = { uid: 'u-1', gracePeriodSeconds: 0, propagationPolicy: 'Background' } as const;
    await kube.delete(PODS, { namespace: 'ml', name: 'p', ...options }, going());

    expect(requests[0]?.body).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u-1' },
      gracePeriodSeconds: 0,
      propagationPolicy: 'Background',
    });
  });

  it('without a name reaches no API server: it would mean the whole collection', () => {
    const { kube, requests } = openScripted();

    expect(() => kube.get(PODS, { namespace: 'ml', name: '' }, going())).toThrow('has no name');
    expect(requests).toEqual([]);
  });
});

describe('a watch', () => {
  const QUERY = { namespace: 'ml', resourceVersion: '5', timeoutSeconds: 20 };

  it('reads events however they are cut into chunks, in the middle of a letter too', async () => {
    const { kube, script, requests } = openScripted();
    const stream = openStream();
    script.answering = () => stream.response;
    const bytes = new TextEncoder().encode(
      `${JSON.stringify({ type: 'ADDED', object: aPod('ä', 6) })}\n${JSON.stringify({ type: 'DELETED', object: aPod('b', 7) })}\n`,
    );
    for (const byte of bytes) stream.raw(Uint8Array.of(byte));
    stream.end();
    const events = await collected(kube.watch(PODS, QUERY, going()));

    expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
      ['ADDED', 'ä'],
      ['DELETED', 'b'],
    ]);
    expect(requests[0]?.query).toEqual({
      resourceVersion: '5',
      timeoutSeconds: '20',
      watch: '1',
      allowWatchBookmarks: 'true',
    });
  });

  it.each([
    ['is cut within an event', (raw: (text: string) => void) => raw('{"type":"ADDED","obj'), false],
    ['sends what is no event', (raw: (text: string) => void) => raw('{"hello":1}\n'), false],
    [
      'says that its version is too old',
      (raw: (text: string) => void) =>
        raw('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'),
      true,
    ],
  ])('that %s ends in a fault', async (_, feed, expired) => {
    const { kube, script } = openScripted();
    const stream = openStream();
    script.answering = () => stream.response;
    feed(stream.raw);
    stream.end();
    const fault = await collected(kube.watch(PODS, QUERY, going())).catch((thrown) => thrown);

    expect([fault.name, isExpired(fault)]).toEqual(['Fault', expired]);
  });

  it('ends as soon as it is given up, also where the stream does not notice', async () => {
    const { kube, script } = openScripted();
    const stream = openStream();
    script.answering = () => stream.response;
    const ending = new AbortController();
    const all = collected(kube.watch(PODS, QUERY, ending.signal));
    all.catch(() => {});
    await Promise.resolve();
    ending.abort();

    await expect(all).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a resource of which only metadata is read', () => {
  const ONE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const at = { namespace: 'ml', name: 'a' };

  it('asks for the metadata in every form that an answer may have, and deletes as any other', async () => {
    const { kube, script, requests } = openScripted();
    script.answering = ({ query }) => {
      if (query.watch) return new Response('');
      return query.limit ? aList(5, [aPod('a', 1)]) : json(aPod('a', 1));
    };
    await kube.list(SECRETS, { namespace: 'ml' }, going());
    await kube.get(SECRETS, at, going());
    await collected(kube.watch(SECRETS, { namespace: 'ml', resourceVersion: '5', timeoutSeconds: 6 }, going()));
    await kube.create(SECRETS, aPod('a', 1), going());
    await kube.delete(SECRETS, at, going());
    await kube.get(PODS, at, going());

    expect(requests.map(({ method, headers }) => `${method} ${headers.accept}`)).toEqual([
      'GET application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      `GET ${ONE}`,
      `GET ${ONE}`,
      `POST ${ONE}`,
      'DELETE application/json',
      'GET application/json',
    ]);
  });
});
