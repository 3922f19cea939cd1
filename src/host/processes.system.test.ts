import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { until } from '#core/testing/until.ts';
import {
  bootId,
  isAlive,
  isStillIts,
  ledBy,
  membersOf,
  type ProcessMark,
  parseShellMark,
  processStart,
  SELF_OF_SHELL,
  sendSignal,
  signalGroup,
} from './processes.ts';

async function withGroup(work: (leader: ProcessMark) => Promise<void>): Promise<void> {
  const child = spawn('/bin/sh', ['-c', 'sleep 300 & sleep 300 & echo ready; wait'], { detached: true });
  await once(child.stdout, 'data');
  const pid = child.pid as number;
  try {
    await work({ pid, start: processStart(pid) as string });
  } finally {
    sendSignal(-pid, 'SIGKILL');
  }
}

describe('a process', () => {
  it('is known by its number and its start', async () => {
    await withGroup(async (leader) => {
      expect(isAlive(leader)).toBe(true);
      expect(isAlive({ ...leader, start: `${leader.start}1` })).toBe(false);
      expect(membersOf('group', leader.pid)).toHaveLength(3);
      expect(membersOf('session', leader.pid)).toHaveLength(3);
      expect(ledBy([leader])).toHaveLength(3);
      expect(ledBy([{ ...leader, start: `${leader.start}1` }])).toEqual([]);

      signalGroup(leader, 'SIGKILL');
      await until('it has ended', () => !isAlive(leader) && membersOf('group', leader.pid).length === 0);
      expect(processStart(leader.pid)).toBeUndefined();
    });
  });

  it('that has ended and that its parent has not waited for does not count as alive', async () => {
    const parent = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 30']);
    try {
      const [text] = await once(parent.stdout, 'data');
      const pid = Number(text);
      await until('it has ended', () => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));

      expect(processStart(pid)).toBeUndefined();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('leaves its group to those who remain, and to no other process', async () => {
    await withGroup(async (leader) => {
      sendSignal(leader.pid, 'SIGKILL');
      await until('it has ended', () => !isAlive(leader));

      expect(isStillIts(leader)).toBe(true);
      expect(isStillIts({ ...leader, start: 'another-boot/1' })).toBe(false);
      expect(isStillIts({ pid: process.pid, start: leader.start })).toBe(false);
      expect(signalGroup({ pid: process.pid, start: leader.start }, 'SIGKILL')).toBe(false);
      expect(signalGroup(leader, 'SIGKILL')).toBe(true);
    });
  });

  it('writes itself down in a shell just as we read it', () => {
    const script = `${SELF_OF_SHELL}; echo "$$ /dev/pts/1 | $muster_self"`;
    const line = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).trim();
    const mark = parseShellMark(line, bootId());

    expect(mark?.words).toEqual(['/dev/pts/1']);
    expect(mark?.mark.pid).toBe(Number.parseInt(line, 10));
    expect(mark?.mark.start).toMatch(new RegExp(`^${bootId()}/\\d+$`));
  });

  it.each(['', '12', 'void', '1 | 1 (sh) S', '| x', 'x | y z'])('is not read from "%s"', (line) => {
    expect(parseShellMark(line, 'boot')).toBeUndefined();
  });

  it('is never everybody', () => {
    for (const pid of [0, 1, -1, -0]) expect(sendSignal(pid, 'SIGKILL')).toBe(false);
  });
});
