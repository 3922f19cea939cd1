import { expect, test } from 'vitest';
import { takesAgentsAlong } from './run-server.ts';

const alone = { isSupervised: false, hasStandbys: false };

test.each([
  ['Ctrl-C', { signal: 'SIGINT', ...alone }, true],
  ['Ctrl-C with standbys', { signal: 'SIGINT', isSupervised: false, hasStandbys: true }, true],
  ['SIGTERM', { signal: 'SIGTERM', ...alone }, true],
  [
    'SIGTERM of a supervisor, which starts the server again',
    { signal: 'SIGTERM', ...alone, isSupervised: true },
    false,
  ],
  ['SIGTERM where a standby takes over', { signal: 'SIGTERM', ...alone, hasStandbys: true }, false],
  ['SIGTERM with --keep-agents', { signal: 'SIGTERM', ...alone, keepAgents: true }, false],
  ['Ctrl-C with --keep-agents', { signal: 'SIGINT', ...alone, keepAgents: true }, false],
] as const)('%s: idle local agents end with the server: %j %s', (_, facts, ends) => {
  expect(takesAgentsAlong(facts)).toBe(ends);
});
