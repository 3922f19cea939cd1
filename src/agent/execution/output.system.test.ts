import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { until } from '#core/testing/until.ts';
import { aSpec, openStand, type Stand } from './testing.ts';

let stand: Stand;
afterEach(() => stand.close());

const shell = (script: string) => aSpec(['/bin/sh', '-c', script]);
type Said = Extract<AgentReport, { is: 'output' }>;
const outputs = (): Said[] => stand.reports.filter((said) => said.is === 'output');
const bytesOf = (said: readonly Said[]): number => said.reduce((sum, { data }) => sum + data.length, 0);

/** Acknowledges whatever has come, as a server would, until the end has come too; answers the most bytes on their way. */
async function acknowledgeAll(session: string): Promise<number> {
  let acked = 0;
  let mostBytes = 0;
  await until('the end', () => {
    mostBytes = Math.max(mostBytes, bytesOf(outputs().filter((said) => said.seq > acked)));
    const seq = Math.max(0, ...outputs().map((said) => said.seq));
    stand.execution.handle({ do: 'ack', session, attempt: 1, seq, result: false });
    acked = seq;
    return stand.reports.some((said) => said.is === 'ended') ? true : undefined;
  });
  return mostBytes;
}

describe('output', () => {
  it('is complete and in order, in numbered pieces of at most 64 KiB', async () => {
    stand = await openStand();
    stand.start('s1', shell('seq 1 1000000'));
    await acknowledgeAll('s1');
    const ended = await stand.said('s1', 'ended');

    const lines = Array.from({ length: 1_000_000 }, (_, at) => `${at + 1}\n`).join('');
    expect(stand.text('s1') === lines).toBe(true);
    expect(Math.max(...outputs().map((said) => said.data.length))).toBeLessThanOrEqual(65_536);
    const numbers = outputs().map((said) => said.seq);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(ended.lastSeq).toBe(numbers.length);
  });

  it('waits on disk while too much is on its way, and the end waits for it', async () => {
    stand = await openStand({ limits: { windowBytes: 200_000 } });
    stand.start('s1', shell('head -c 1000000 /dev/zero'));
    await until('the window to fill', () => (bytesOf(outputs()) >= 200_000 ? true : undefined));
    await until('the command to end', () => (stand.execution.running === 0 ? true : undefined));

    const mostBytes = await acknowledgeAll('s1');
    expect(mostBytes).toBeLessThan(200_000 + 65_536);
    expect(bytesOf(outputs())).toBe(1_000_000);
    expect(stand.reports.at(-1)?.is).toBe('ended');
  });

  it('is sent again from the last acknowledged piece on, after the start and before the end', async () => {
    stand = await openStand();
    stand.start('s1', shell('for i in 1 2 3; do echo $i; sleep 0.1; done; exit 4'));
    const { lastSeq } = await stand.said('s1', 'ended');
    const before = outputs();
    stand.execution.handle({ do: 'ack', session: 's1', attempt: 1, seq: 1, result: false });
    stand.reports.length = 0;

    stand.execution.replay();
    await stand.said('s1', 'ended');

    expect(lastSeq).toBe(3);
    expect(stand.reports.map((said) => said.is)).toEqual(['started', 'output', 'output', 'ended']);
    expect(outputs()).toEqual(before.slice(1));
  });

  it('is cut off with a mark where the disk would hold too much, and the command goes on', async () => {
    stand = await openStand({ limits: { windowBytes: 64_000, pieceBytes: 32_000, diskBytes: 300_000 } });
    stand.start('s1', shell('head -c 2000000 /dev/zero; sleep 0.2; head -c 2000000 /dev/zero; exit 5'));
    await until('the command to end', () => (stand.execution.running === 0 ? true : undefined));
    const held = statSync(join(stand.sessionPath('s1'), 'out')).size;
    await acknowledgeAll('s1');
    const ended = await stand.said('s1', 'ended');

    expect(held).toBeLessThanOrEqual(300_000);
    expect(ended).toMatchObject({ how: 'exited', exitCode: 5 });
    expect(bytesOf(outputs().filter((said) => said.stream === 'stdout'))).toBeLessThanOrEqual(300_000);
    const last = outputs().find((said) => said.seq === ended.lastSeq);
    expect(Buffer.from(last?.data ?? []).toString()).toContain('output truncated here');
    expect(outputs().filter((said) => said.stream === 'stderr')).toHaveLength(1);
  });

  it('goes on past the limit of the disk as long as it is acknowledged, where files can have holes', async () => {
    stand = await openStand({ limits: { diskBytes: 48 * 2 ** 20 } });
    const go = join(stand.workDir, 'go');
    const step = `head -c 16777216 /dev/zero; until [ -e ${go}-$i ]; do sleep 0.02; done`;
    stand.start('s1', shell(`for i in 1 2 3 4 5 6; do ${step}; done`));
    let bytes = 0;
    let steps = 0;
    await until('the end', () => {
      const said = outputs();
      bytes += bytesOf(said);
      // The next step begins when this one has arrived, however slow the machine is.
      if (bytes === (steps + 1) * 16 * 2 ** 20) writeFileSync(`${go}-${++steps}`, '');
      const seq = Math.max(0, ...said.map((one) => one.seq));
      const isEnded = stand.reports.some((one) => one.is === 'ended');
      stand.reports.length = 0;
      stand.execution.handle({ do: 'ack', session: 's1', attempt: 1, seq, result: false });
      return isEnded ? true : undefined;
    });

    expect(bytes).toBe(6 * 16 * 2 ** 20);
  });
});
