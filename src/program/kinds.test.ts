import { expect, it } from 'vitest';
import { loadKinds, redactBackendConfig } from './kinds.ts';

const scripts = { start: 'make --key abc', stop: 'unmake', list: 'look', timeout: 60_000 };

it('shows the scripts of a backend to operators and admins, not to viewers', async () => {
  const shown = redactBackendConfig(await loadKinds([]));

  expect(shown('command', scripts, 'operator')).toEqual(scripts);
  expect(shown('command', scripts, 'admin')).toEqual(scripts);
  expect(shown('command', scripts, 'viewer')).toEqual({
    start: '[hidden]',
    stop: '[hidden]',
    list: '[hidden]',
    timeout: 60_000,
  });
});

it('hides the values of variables from everyone, and shows nothing of a kind that it does not know', async () => {
  const shown = redactBackendConfig(await loadKinds([]));

  expect(shown('process', { slots: 2, env: { KEY: 'abc' } }, 'admin')).toEqual({ slots: 2, env: { KEY: '[hidden]' } });
  expect(shown('elsewhere', { key: 'abc' }, 'admin')).toEqual({});
});
