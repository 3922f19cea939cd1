import { describe, expect, it } from 'vitest';
import { endOf, type Remains } from './ending.ts';
import type { Stop } from './folder.ts';

const killed: Stop = { how: 'killed', at: 0, killAt: 0 };
const timeout: Stop = { how: 'timeout', at: 0, killAt: 0, message: 'The session ran longer than 5m.' };

const FULL = expect.stringContaining('disk of the worker is full');

const TABLE: readonly (readonly [string, Remains, object])[] = [
  ['a code of 0', { exitCode: 0 }, { how: 'exited', exitCode: 0 }],
  ['a code below 128', { exitCode: 127 }, { how: 'exited', exitCode: 127 }],
  ['the code of a signal', { exitCode: 143 }, { how: 'signalled', exitCode: 143, signal: 'SIGTERM' }],
  ['a code beyond all signals', { exitCode: 255 }, { how: 'exited', exitCode: 255 }],
  ['a kill that it died of', { exitCode: 143, stop: killed }, { how: 'killed', exitCode: 143, signal: 'SIGTERM' }],
  ['a kill that it took well', { exitCode: 0, stop: killed }, { how: 'killed', exitCode: 0 }],
  ['a kill that left no trace', { stop: killed }, { how: 'killed', exitCode: 137, signal: 'SIGKILL' }],
  ['its time limit', { exitCode: 143, stop: timeout }, { how: 'timeout', signal: 'SIGTERM', message: timeout.message }],
  ['a full disk', { wrapper: { code: 5, signal: null } }, { how: 'exited', exitCode: 5 }],
  ['output without room', { exitCode: 141, wasDiskFull: true }, { how: 'exited', exitCode: 141, message: FULL }],
  [
    'its own signal on a full disk',
    { wrapper: { code: 143, signal: null }, wasDiskFull: true },
    { how: 'signalled', exitCode: 143, signal: 'SIGTERM', message: FULL },
  ],
  ['an exit code without room', { wasDiskFull: true }, { how: 'lost', message: FULL }],
  ['a reader that left', { exitCode: 141 }, { how: 'signalled', exitCode: 141, signal: 'SIGPIPE' }],
  ['the end of its shell', { wrapper: { code: null, signal: 'SIGKILL' } }, { how: 'signalled', signal: 'SIGKILL' }],
  ['no trace at all', {}, { how: 'lost' }],
];

describe('the end of a run', () => {
  it.each(TABLE)('is right after %s', (_what, remains, end) => {
    expect(endOf(remains)).toMatchObject(end);
  });

  it('tells no exit code after the time limit, so that callers see the one of `timeout`', () => {
    expect(endOf({ exitCode: 0, stop: timeout }).exitCode).toBeUndefined();
  });
});
