import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { startLoop } from '#core/loop.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { makeRedactor } from '#journal/redact.ts';
import { openLog } from './logging.ts';

/** What a loop logs of a pass that fails. */
async function failure(format: 'text' | 'json'): Promise<string> {
  const clock = new VirtualClock();
  const output = new PassThrough();
  const log = openLog({ level: 'debug', format, output, clock, redactor: makeRedactor() });
  const loop = startLoop({
    name: 'offers',
    clock,
    random: seededRandom(1),
    log,
    logged: () => ({ pool: 'gpu' }),
    reconcile() {
      throw new Fault('denied', 'The role may not list.', { remedy: 'Add ec2:DescribeInstances.' });
    },
  });
  loop.poke('76a7');
  await clock.settle();
  await loop.stop();
  return stripVTControlCharacters(String(output.read()));
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

test('a failed pass is logged with the time, the pool and the remedy, not with an id', async () => {
  const text = await failure('text');
  const json = JSON.parse(await failure('json'));

  expect(text).toMatch(new RegExp(`^${ISO.source} warn `));
  expect(text).toContain('pool=gpu kind=denied error="The role may not list." remedy="Add ec2:DescribeInstances."');
  expect(json).toMatchObject({ time: expect.stringMatching(ISO), pool: 'gpu', remedy: 'Add ec2:DescribeInstances.' });
  expect(text + JSON.stringify(json)).not.toContain('76a7');
});
