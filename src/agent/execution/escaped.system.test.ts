import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#core/testing/until.ts';
import { inCgroup, NO_CGROUPS, openCgroups, removeCgroup } from '#host/cgroup.ts';
import { processStart } from '#host/processes.ts';
import { aSpec, openStand, type Stand } from './testing.ts';

// A daemon: its own session, and no parent of the session left.
const ESCAPE = 'setsid sh -c "sleep 600 & echo \\$!" </dev/null';
const shell = (script: string, more = {}) => aSpec(['/bin/sh', '-c', script], more);
const isGone = (pid: number) => until(`process ${pid} is gone`, () => processStart(pid) === undefined || undefined);

describe.each([1, 2] as const)('with control groups of version %i', (version) => {
  const cgroups = openCgroups(`muster-test-${process.pid}`, [version]);

  describe.skipIf(cgroups === NO_CGROUPS)(
    `a process that leaves the group of its session (needs version ${version})`,
    () => {
      let stand: Stand;
      beforeEach(async () => {
        stand = await openStand({ cgroups });
      });
      afterEach(() => stand.close());

      const pidIn = async (session: string): Promise<number> => {
        await stand.textHas(session, '\n');
        return Number(stand.text(session).trim());
      };

      it('ends with the session that started it', async () => {
        stand.start('s1', shell(ESCAPE));
        const pid = await pidIn('s1');
        await stand.said('s1', 'ended');

        await isGone(pid);
      });

      it.each([true, false])('ends when the session is killed, with force: %s', async (force) => {
        stand.start('s1', shell(`${ESCAPE}; exec sleep 600`));
        const pid = await pidIn('s1');
        stand.execution.handle({ do: 'kill', session: 's1', force, graceMs: 2_000 });

        expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed' });
        await isGone(pid);
      });

      it('ends though the agent was started again meanwhile, and its group is removed', async () => {
        stand.start('s1', shell(`${ESCAPE}; exec sleep 600`));
        const pid = await pidIn('s1');
        stand = await openStand({ workDir: stand.workDir, cgroups });
        stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });
        await stand.said('s1', 'ended');

        await isGone(pid);
      });
    },
  );

  describe.skipIf(cgroups === NO_CGROUPS)(`a control group (needs version ${version})`, () => {
    it('is removed when it is empty', () => {
      const folder = cgroups.make(`muster-test-${process.pid}-empty`) ?? '';

      expect(inCgroup(folder)).toEqual([]);
      expect([removeCgroup(folder), removeCgroup(folder)]).toEqual([true, true]);
    });
  });
});
