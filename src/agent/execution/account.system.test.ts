import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSpec, openStand, type Stand } from './testing.ts';

let stand: Stand;
beforeEach(async () => {
  stand = await openStand();
});
afterEach(() => stand.close());

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)('a session under another account (needs root)', () => {
  it('has the numbers, home and groups of that account, and none of the agent', async () => {
    const script = 'id -u; id -g; id -G; echo "$HOME $USER"; pwd; echo again >/dev/stdout; echo bad >/dev/stderr';
    stand.start('s1', aSpec(['/bin/sh', '-c', script], { runAs: { user: 'daemon' } }));
    stand.start(
      's2',
      aSpec(['/bin/sh', '-c', 'id -u; id -g; id -G'], { runAs: { uid: 4242, gid: 4243, groups: [7] } }),
    );
    await Promise.all([stand.said('s1', 'ended'), stand.said('s2', 'ended')]);

    expect(stand.text('s1', 'stdout')).toMatch(/^1\n1\n1\n\/usr\/sbin daemon\n\/usr\/sbin\nagain\n$/);
    expect(stand.text('s1', 'stderr')).toBe('bad\n');
    expect(stand.text('s2')).toBe('4242\n4243\n4243 7\n');
  });

  it('is killed like any other', async () => {
    stand.start('s1', aSpec(['sleep', '600'], { runAs: { user: 'daemon' } }));
    await stand.said('s1', 'started');
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed' });
  });
});

it('a session of an unknown user is refused, and nothing runs', async () => {
  stand.start('s1', aSpec(['touch', `${stand.workDir}/ran`], { runAs: { user: 'no-such-user' } }));

  expect(await stand.said('s1', 'refused')).toMatchObject({
    why: expect.stringContaining('There is no user no-such-user on this machine.'),
  });
  expect(stand.execution.executions()).toEqual([]);
});
