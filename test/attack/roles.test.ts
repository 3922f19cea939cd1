// Every route with every role and every method, from the OpenAPI document: no role gets more than the document says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { breach, type Caller, openTarget, ROLES, say, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target?.close());

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const RANK: Readonly<Record<string, number>> = { anyone: 0, viewer: 1, operator: 2, admin: 3 };

interface Operation {
  readonly path: string;
  readonly methods: ReadonlyMap<string, number>;
}

async function operations(): Promise<readonly Operation[]> {
  const { body } = await target.send({ method: 'GET', path: '/openapi.json', headers: headersOf('admin') });
  const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, { description?: string }>> };
  return Object.entries(paths).map(([path, methods]) => ({
    path: path.replaceAll(/\{\w+\}/g, 'no-such-thing'),
    methods: new Map(
      Object.entries(methods).map(([method, { description = '' }]) => {
        const role = /Needs the role (\w+)/.exec(description)?.[1] ?? 'anyone';
        return [method.toUpperCase(), RANK[role] ?? breach(`no role is known for ${method} ${path}`)];
      }),
    ),
  }));
}

/** The rank that the document asks for, if it knows that method. */
const neededFor = ({ methods }: Operation, method: string): number | undefined =>
  methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined);

function judge(operation: Operation, method: string, caller: Caller, status: number): void {
  const needed = neededFor(operation, method);
  const has = ROLES.indexOf(caller);
  const where = `${method} ${operation.path} as ${caller}: ${status}`;
  if (status >= 500 || status === 0) breach(where);
  // An endless answer has no head of its own.
  if (method === 'HEAD' && status === 405) return;
  if (needed === undefined) {
    if (status < 400) breach(`${where}, though the document knows no such method`);
    return;
  }
  if (needed > 0 && has === 0 && status !== 401) breach(`${where}, though it needs a token`);
  if (has > 0 && has < needed && status !== 403) breach(`${where}, though it needs another role`);
  if (has >= needed && needed > 0 && (status === 401 || status === 403)) breach(`${where}, though the role is enough`);
}

function headersOf(caller: Caller): Record<string, string> {
  const token = target.token(caller);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

// The answer of the first is a whole database; the others act without a body that could be wrong: who may is not tried there.
const isEffective = ({ path }: Operation): boolean => /\/(backup|freeze|thaw|logout|login-links)$/.test(path);
// It takes only upgrades.
const isUpgrade = ({ path }: Operation): boolean => path.endsWith('/attach');

function isTried(operation: Operation, method: string, caller: Caller): boolean {
  const needed = neededFor(operation, method);
  return needed === undefined || !isEffective(operation) || ROLES.indexOf(caller) < needed;
}

async function tryAll(operation: Operation): Promise<number> {
  const tries = METHODS.flatMap((method) => ROLES.map((caller) => ({ method, caller }))).filter(({ method, caller }) =>
    isTried(operation, method, caller),
  );
  for (const { method, caller } of tries) {
    const isRead = method === 'GET' || method === 'HEAD';
    // A body that no route takes: what is allowed is refused for that, and changes nothing.
    const body = isRead ? undefined : '{"no_such_key":1}';
    const headers = { ...headersOf(caller), ...(isRead ? {} : { 'content-type': 'application/json' }) };
    const { status } = await target.send({ method, path: operation.path, headers, body });
    judge(operation, method, caller, status);
  }
  return tries.length;
}

test('routes × methods × roles answer as the OpenAPI document says', async () => {
  const before = await target.state();
  let all: readonly Operation[] = [];
  let count = 0;

  await target.whileOthersAsk('routes × methods × roles', async () => {
    all = (await operations()).filter((operation) => !isUpgrade(operation));
    for (const operation of all) count += await tryAll(operation);
  });

  say(`${count} requests on ${all.length} paths`);
  target.mustBeSound();
  expect(await target.state()).toBe(before);
});
