import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Backend, Context, Provider, Source } from '#core/provider.ts';
import { kind } from '#core/provider.ts';
import { secret } from '#core/schema.ts';
import { openShared } from '#core/shared.ts';
import { renderConfiguration } from '../../scripts/config-reference.ts';
import { editorSchema } from './editor-schema.ts';
import { knownKinds } from './kinds.ts';
import { offerOf, offerShapes } from './offers.ts';
import { readPool } from './pool-document.ts';
import { redact } from './redact.ts';

const base = { summary: 'A stand-in.', example: {}, trust: 'any source' } as const;
const opened: unknown[] = [];

/** Pods, which run in a cluster of some other provider. */
const pods: Provider = {
  id: 'pods',
  title: 'Pods',
  backends: {
    pods: kind({
      ...base,
      config: z
        .strictObject({ namespace: z.string() })
        .refine(({ namespace }) => namespace !== 'kube-system', 'must not be the namespace of the cluster itself')
        .meta({ kindsOf: 'clusters' }),
      open: async () => ({}) as Backend,
    }),
  },
};

/** Clusters, which know nothing of pods. */
const clusters: Provider = {
  id: 'clusters',
  title: 'Clusters',
  clusters: {
    gke: kind({
      ...base,
      config: z.strictObject({ project: z.string(), token: secret().optional() }),
      open: async () => ({}) as ClusterAccess,
    }),
    eks: kind({ ...base, config: z.strictObject({ region: z.string() }), open: async () => ({}) as ClusterAccess }),
  },
};

const KINDS = knownKinds([pods, clusters]);

function read(config: object, trust: 'operator' | 'foreign' = 'operator') {
  const text = JSON.stringify({ name: 'p', auto_scaler: { backend: { pods: config } } }, null, 1);
  const { spec, problems } = readPool(text, { kinds: KINDS.backends, trust });
  return { spec, problems: problems?.map(({ path, line, message }) => `${line} ${path}: ${message}`) };
}

describe('a kind that acts in a cluster takes the kinds of clusters that other providers bring', () => {
  it('beside its own keys, each with its own settings, or none', () => {
    const { spec } = read({ namespace: 'jobs', gke: { project: 'mine' } });

    expect(spec?.offers[0]?.config).toEqual({ namespace: 'jobs', gke: { project: 'mine' } });
    expect(read({ namespace: 'jobs' }).problems).toBeUndefined();
  });

  it('and refuses mistyped keys of theirs with line and nearest key', () => {
    expect(read({ namespace: 'jobs', gke: { projct: 'mine' } }).problems).toEqual([
      '7 auto_scaler.backend.pods.gke.project: is missing',
      '8 auto_scaler.backend.pods.gke.projct: is not a known key; did you mean project?',
    ]);
    expect(read({ namespace: 'jobs', gkee: {} }).problems).toEqual([
      '7 auto_scaler.backend.pods.gkee: is not a known key; did you mean gke?',
    ]);
  });

  it('but not two of them, and its own rules still hold', () => {
    const two = read({ namespace: 'jobs', gke: { project: 'mine' }, eks: { region: 'here' } }).problems;
    const own = read({ namespace: 'kube-system', eks: { region: 'here' } }).problems;

    expect(two).toEqual([expect.stringContaining('names eks and gke; keep one cluster')]);
    expect(own).toEqual([expect.stringContaining('must not be the namespace of the cluster itself')]);
  });

  it('and only from the operator', () => {
    const problems = read({ namespace: 'jobs', gke: { project: 'mine' } }, 'foreign').problems;

    expect(problems).toEqual([expect.stringContaining("gke may be set only in the operator's own file")]);
    expect(read({ namespace: 'jobs' }, 'foreign').problems).toBeUndefined();
  });

  it('whose secrets are hidden and form no machine', () => {
    const schema = KINDS.backends.pods?.config ?? z.never();
    const config = (token: string) => ({ namespace: 'jobs', gke: { project: 'mine', token } });
    const found: string[] = [];

    redact(schema, config('abc'), { found: (text) => found.push(text) });
    const shapeOf = offerShapes(KINDS.backends);
    const shapes = ['abc', 'def'].map((token) => shapeOf(offerOf({ kind: 'pods', config: config(token) })));

    expect(found).toEqual(['abc']);
    expect(shapes[0]).toBe(shapes[1]);
  });

  it('and editors and the reference know them', () => {
    expect(editorSchema('server', KINDS)).toContain('"gke"');
    expect(renderConfiguration(KINDS)).toContain('## Clusters\n\n### `eks`');
    expect(renderConfiguration(KINDS)).toContain('`gke.project`');
    expect(renderConfiguration(knownKinds([]))).not.toContain('## Clusters');
  });
});

it('a kind of any family that two providers bring is refused', () => {
  expect(() => knownKinds([clusters, { ...clusters, id: 'others' }])).toThrow(
    'The providers clusters and others both define the cluster gke.',
  );
});

it('a kind reads the environment variables that its provider declares, and no others', async () => {
  const open = async (_config: unknown, context: Context): Promise<Source> => {
    opened.push(['MINE', 'EMPTY', 'OTHER'].map((name) => context.variable?.(name)));
    return { documents: async () => [] };
  };
  const source = kind({ ...base, config: z.strictObject({}), open });
  const environment: Readonly<Record<string, string>> = { MINE: 'a', EMPTY: '', OTHER: 'b' };
  const context = { variable: (name: string) => environment[name] } as unknown as Context;

  for (const variables of [['MINE', 'EMPTY'], undefined]) {
    const { sources } = knownKinds([{ id: 'one', title: 'One', variables, sources: { source } }]);
    await sources.source?.open({}, context);
  }

  expect(opened).toEqual([
    ['a', undefined, undefined],
    [undefined, undefined, undefined],
  ]);
});

it('all that a server opens of one provider shares clients and limits, and nothing with another provider or server', async () => {
  const clients: object[] = [];
  const open = async (_config: unknown, context: Context) => void clients.push(context.shared('client', () => ({})));
  const one = { ...base, config: z.strictObject({}), open } as never;
  const { sources, backends } = knownKinds([
    { id: 'one', title: 'One', sources: { source: one }, backends: { machines: one } },
    { id: 'two', title: 'Two', backends: { others: one } },
  ]);
  const newServer = () => ({ cluster: 'cluster1', shared: openShared() }) as Context;
  for (const server of [newServer(), newServer()]) {
    await sources.source?.open({}, server);
    for (const name of ['machines', 'machines', 'others']) await backends[name]?.open({}, server);
  }

  const [source, first, again, other, ofAnotherServer] = clients;
  expect(first === source && again === source).toBe(true);
  expect(other === source || ofAnotherServer === source).toBe(false);
});
