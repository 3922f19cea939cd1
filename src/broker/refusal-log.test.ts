import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openRefusalLog } from './refusal-log.ts';

test('a refused agent is logged with its name, once for each reason and minute', async () => {
  const clock = new VirtualClock();
  const lines: unknown[] = [];
  const refused = openRefusalLog({
    clock,
    log: (level, message, fields) => void lines.push({ level, message, ...fields }),
  });
  const agent = { name: 'm-1', pool: 'gpu', from: '10.0.0.1' };

  for (let n = 0; n < 5; n++) {
    refused(agent, new Fault('denied', 'm-1 is drained.'));
    await clock.advance(1_000);
  }
  refused(agent, new Fault('missing', 'There is no pool "gpu".'));
  refused({ ...agent, name: 'm-2' }, new Fault('denied', 'm-1 is drained.'));
  await clock.advance(60_000);
  refused(agent, new Fault('denied', 'm-1 is drained.'));

  expect(lines).toEqual([
    expect.objectContaining({ level: 'warn', agent: 'm-1', pool: 'gpu', from: '10.0.0.1', error: 'm-1 is drained.' }),
    expect.objectContaining({ agent: 'm-1', kind: 'missing' }),
    expect.objectContaining({ agent: 'm-2', kind: 'denied' }),
    expect.objectContaining({ agent: 'm-1', kind: 'denied', alsoRefused: 4 }),
  ]);
});
