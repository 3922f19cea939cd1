// Malformed requests and documents by seed: each is refused, none is an internal error, and nothing has changed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { type Answer, breach, openTarget, type Shot, say, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target?.close());

const SEED = Number(process.env.ATTACK_SEED ?? 1);
const REQUESTS = 5_000;
const DOCUMENTS = 1_000;
const AT_A_TIME = 8;

/** Choices that a seed repeats. */
function chooser(seed: number) {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random.next() * limit);
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { below, one };
}

type Chooser = ReturnType<typeof chooser>;

const ODD = [
  '',
  ' ',
  '\0',
  '..',
  '.',
  '%00',
  '%2e%2e',
  '\ud800',
  'a'.repeat(3_000),
  '__proto__',
  '-1',
  '1e999',
  '{}',
  '[]',
  '💥',
  "' OR 1=1 --",
];
const NUMBERS = ['-1', '1e400', '9007199254740993', 'NaN', '0x10', '-0', '1.5'];

function oddValue(choose: Chooser, depth = 0): string {
  const kind = choose.below(depth > 3 ? 5 : 8);
  if (kind === 0) return choose.one(NUMBERS);
  if (kind === 1) return 'null';
  if (kind === 2) return choose.one(['true', 'undefined', 'tru']);
  if (kind < 5) return JSON.stringify(choose.one(ODD));
  const inner = Array.from({ length: choose.below(4) }, () => oddValue(choose, depth + 1));
  if (kind < 7) return `[${inner.join(',')}]`;
  const key = () => JSON.stringify(choose.one([...ODD, 'name', 'pool', 'command', 'env', 'role', 'auto_scaler']));
  return `{${inner.map((value) => `${key()}:${value}`).join(',')}}`;
}

const SINGLE = ['pools', 'sessions', 'workers', 'tokens', 'sources'];
const POSTED = [
  '/pools',
  '/sessions',
  '/plans',
  '/tokens',
  '/login-links',
  '/agent-certificates',
  '/backup',
  '/sources/x/sync',
];

function malformed(choose: Chooser, token: string): Shot {
  const path = (text: string): string =>
    encodeURI(text.toWellFormed()).replaceAll('%25', '%').replaceAll(/[\0 ]/g, '+');
  const odd = choose.one(ODD);
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  const kind = choose.below(4);
  if (kind === 0)
    return { method: 'GET', path: path(`/api/v1/${choose.one(SINGLE)}/x${odd}?${odd}=${choose.one(ODD)}`), headers };
  if (kind === 1)
    return {
      method: choose.one(['PUT', 'DELETE', 'PATCH', 'PROPFIND']),
      path: path(`/api/v1/${choose.one(SINGLE)}/x${odd}`),
      headers,
    };
  if (kind === 2) {
    const bad = {
      ...headers,
      'if-match': choose.one(['', '"', 'W/"1"', '"x"', '99']),
      'content-type': choose.one(['text/html', 'a', 'application/yaml; x', 'application/json;charset=utf-16']),
    };
    return { method: 'PUT', path: '/api/v1/pools/x', headers: bad, body: oddValue(choose) };
  }
  headers['content-type'] = 'application/json';
  // Half of a value is never whole.
  const value = `{"odd":${oddValue(choose)},`;
  return {
    method: 'POST',
    path: `/api/v1${choose.one(POSTED)}`,
    headers,
    body: choose.below(2) === 0 ? value : `${value}"x":1}`,
  };
}

async function inTurns<T>(items: readonly T[], each: (item: T, at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await each(items[at] as T, at);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
}

/** The client's fault, or a method that no server knows. */
const isRefusal = (status: number): boolean => (status >= 400 && status < 500) || status === 501;

const counted = (counts: ReadonlyMap<number, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');

test(`${REQUESTS} malformed requests (seed ${SEED}) are refused and change nothing`, async () => {
  const choose = chooser(SEED);
  const shots = Array.from({ length: REQUESTS }, () => malformed(choose, target.token('admin') ?? ''));
  const before = await target.state();
  const counts = new Map<number, number>();

  await target.whileOthersAsk('malformed requests', () =>
    inTurns(shots, async (shot, at) => {
      const { status, body } = await target.send(shot).catch(() => ({ status: 0, body: '' }));
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (!isRefusal(status)) breach(`request ${at} answered ${status}: ${JSON.stringify(shot)} ${body}`);
    }),
  );

  say(counted(counts));
  target.mustBeSound();
  expect(await target.state()).toBe(before);
});

function badDocument(choose: Chooser): string {
  const deep = choose.one(['[', '{', '- ', '? ', 'a: ', '{?', '[{', '!!str ', '&a ']).repeat(1 + choose.below(3_000));
  const kind = choose.below(6);
  if (kind === 0) return deep;
  if (kind === 1) return `name: x\nauto_scaler: ${deep}`;
  if (kind === 2) return oddValue(choose);
  if (kind === 3) return `name: x${choose.one(ODD)}:\nno_such_key: ${choose.one(ODD)}`;
  if (kind === 4) return `{"name":"x","no_such_key":${oddValue(choose)}}`;
  return Array.from({ length: choose.below(2_000) }, (_, at) => `k${at}: ${choose.one(NUMBERS)}\n`).join('');
}

function offer(text: string, isPlan: boolean): Promise<Answer> {
  return target.send({
    method: 'POST',
    path: isPlan ? '/api/v1/plans' : '/api/v1/pools',
    headers: {
      authorization: `Bearer ${target.token('admin')}`,
      'content-type': isPlan ? 'application/json' : 'application/yaml',
    },
    body: isPlan ? JSON.stringify({ documents: [{ key: 'x', text: text.toWellFormed() }] }) : text,
  });
}

/** A plan answers, and lists the document as refused. */
const isRefused = (isPlan: boolean, status: number, body: string): boolean =>
  isPlan ? status === 200 && body.includes('"refused":[{') : status >= 400 && status < 500;

test(`${DOCUMENTS} bad documents (seed ${SEED}) are refused, planned or applied, and change nothing`, async () => {
  const choose = chooser(SEED + 1);
  const documents = Array.from({ length: DOCUMENTS }, () => badDocument(choose));
  const before = await target.state();
  const counts = new Map<number, number>();

  await target.whileOthersAsk('bad documents', () =>
    inTurns(documents, async (text, at) => {
      const isPlan = at % 2 === 0;
      const { status, body } = await offer(text, isPlan);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (!isRefused(isPlan, status, body))
        breach(`document ${at}: ${status} ${JSON.stringify(text.slice(0, 200))} ${body}`);
    }),
  );

  say(counted(counts));
  target.mustBeSound();
  expect(await target.state()).toBe(before);
});
