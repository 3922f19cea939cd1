import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#core/testing/until.ts';
import { aSpec, clearWorkDir, openStand, type Stand } from './testing.ts';

/** A file system of 4 MiB, where this machine lets us mount one. */
function mountSmall(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const probe = mkdtempSync(join(tmpdir(), 'muster-small-disk-'));
const canMount = mountSmall(probe);
if (canMount) execFileSync('umount', [probe]);
rmSync(probe, { recursive: true });

describe('a session whose output finds no room on the disk of its worker', () => {
  let stand: Stand;
  beforeEach(async () => {
    stand = await openStand();
  });
  afterEach(() => stand.close());

  /** Its output goes to a device that is always full. */
  function startFull(script: string, stream: 'out' | 'err' = 'out'): void {
    stand.start('s1', aSpec(['/bin/sh', '-c', script]));
    // The record is still being written: nothing has opened the file yet but the agent.
    const file = join(stand.sessionPath('s1'), stream);
    rmSync(file);
    symlinkSync('/dev/full', file);
  }

  it('ends with a message that names the disk and the remedy, not with the signal that it died of', async () => {
    startFull('while :; do echo line; done');

    const { how, exitCode, signal, message } = await stand.said('s1', 'ended');
    expect({ how, exitCode, signal }).toEqual({ how: 'exited', exitCode: 141, signal: undefined });
    expect(message).toMatch(/^The disk of the worker is full.* Free space/);
  });

  it('keeps its own exit code where it goes on, and what reached the other stream', async () => {
    startFull('echo lost >&2; echo kept; exit 3', 'err');

    expect(await stand.said('s1', 'ended')).toMatchObject({
      how: 'exited',
      exitCode: 3,
      message: expect.stringContaining('disk of the worker is full'),
    });
    expect(stand.text('s1')).toBe('kept\n');
  });
});

describe.skipIf(!canMount)('a session that fills the disk of its worker (needs the right to mount)', () => {
  let disk: string;
  let workDir: string;
  let stand: Stand;
  beforeEach(async () => {
    disk = mkdtempSync(join(tmpdir(), 'muster-small-disk-'));
    mountSmall(disk);
    workDir = join(disk, 'work');
    stand = await openStand({ workDir });
  });
  afterEach(() => {
    clearWorkDir(workDir);
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  const filling = (more = {}) =>
    aSpec(['/bin/sh', '-c', 'cat /dev/zero >"$0" 2>/dev/null; echo full; exec sleep 600', join(workDir, 'fill')], more);
  const isFull = () => until('the disk is full', () => statfsSync(workDir).bavail === 0 || undefined);

  it('ends by its timeout', async () => {
    stand.start('s1', filling({ timeoutMs: 2_000, graceMs: 200 }));
    await isFull();

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'timeout' });
  });

  it('ends by a kill with force', async () => {
    stand.start('s1', filling());
    await isFull();
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed' });
  });

  it('by its output ends with a message that names the disk', async () => {
    stand.start('s1', aSpec(['cat', '/dev/zero']));

    const { how, signal, message } = await stand.said('s1', 'ended');
    expect({ how, signal }).toEqual({ how: 'exited', signal: undefined });
    expect(message).toMatch(/^The disk of the worker is full/);
  });

  it('does not keep its agent from starting again, over and over, and from ending it then', async () => {
    stand.start('s1', filling());
    await stand.said('s1', 'started');
    await isFull();
    for (let n = 0; n < 3; n++) stand = await openStand({ workDir });

    expect(stand.execution.executions()).toEqual([{ session: 's1', attempt: 1 }]);
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });
    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed' });
  });
});
