import { describe, expect, it } from 'vitest';
import type { DocumentState } from '#core/source.ts';
import { sourceStatus } from '#pools/status.ts';
import { putParameter } from '../../providers/aws/parameters/testing.ts';
import { documentOf, keyOf } from './documents.ts';
import { type AwsWorld, openAwsWorld } from './world.ts';

const MINUTE_MS = 60_000;
const SOURCE = 'aws:us-west-2:/velda/pools/';
const EMPTY = { scaler: { min_idle_agents: 0, max_idle_agents: 0 } };

function statusOf({ life, clock }: AwsWorld) {
  const { view } = life.store;
  const status = sourceStatus({ view, timings: life.pools.timings(), nowMs: clock.now() }, SOURCE);
  const faulty = [...view.documents.by('source', SOURCE)].filter(({ fault }) => fault);
  return { status, faulty };
}

describe('a bad document', () => {
  it('among ten thousand is named with its place, and the others apply', async () => {
    const world = await openAwsWorld(undefined, { behaviour: { largestPage: 10 } });
    for (let at = 0; at < 9_999; at++) putParameter(world.fake, keyOf(`p${at}`), documentOf(`p${at}`, EMPTY));
    putParameter(world.fake, keyOf('team/odd'), 'name: odd\nauto_scaler:\n  max_agents: many\n');
    await world.clock.advance(MINUTE_MS);

    const { status, faulty } = statusOf(world);

    expect(status).toMatchObject({ documents: 10_000, pools: 9_999, faulty: 1, failures: 0 });
    expect(status?.fault).toBeUndefined();
    expect(faulty).toMatchObject([
      {
        key: keyOf('team/odd'),
        version: '1',
        fault: { kind: 'invalid', place: 'line 3, column 15: auto_scaler.max_agents' },
      },
    ]);
    expect(world.life.store.view.pools.size).toBe(9_999);
  }, 20_000);

  const backend = (config: object): string => JSON.stringify({ name: 'evil', auto_scaler: { backend: config } });
  const aws = (config: object): string => documentOf('evil', { ...EMPTY, backend: config as Record<string, unknown> });

  it.each([
    ['the backend command', backend({ command: { start: 'id', stop: 'id', list: 'id' } }), 'backend.command'],
    ['the backend process', backend({ process: {} }), 'backend.process'],
    ['a file', aws({ ami_id: 'file:/etc/passwd' }), 'aws_launch_template.ami_id'],
    ['a variable', aws({ tags: { key: `\${AWS_SECRET_ACCESS_KEY}` } }), 'aws_launch_template.tags.key'],
    ['an address of its own', aws({ endpoint: 'https://evil.example' }), 'aws_launch_template.endpoint'],
  ])('that names %s is refused with the reason, and the others apply', async (_what, text, path) => {
    const world = await openAwsWorld();
    putParameter(world.fake, keyOf('before'), documentOf('before', EMPTY));
    putParameter(world.fake, keyOf('evil'), text);
    putParameter(world.fake, keyOf('later'), documentOf('later', EMPTY));
    await world.clock.advance(MINUTE_MS);

    const { status, faulty } = statusOf(world);

    const [{ key, fault } = {} as DocumentState] = faulty;
    expect(key).toBe(keyOf('evil'));
    expect(fault?.message).toContain("the operator's own file");
    expect(fault?.place).toMatch(new RegExp(`^line 1, column \\d+: auto_scaler.*${path}$`));
    expect(status).toMatchObject({ pools: 2, faulty: 1 });
    expect([...world.life.store.view.pools.all()].map(({ name }) => name).toSorted()).toEqual(['before', 'later']);
  });
});
