import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openScene } from './testing.ts';

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const { muster, output } = openScene(() => ({}));
  await muster('completion', 'bash');
  const script = `${output()}
muster() { printf '%s-of-%s\\n' a "$3" b "$3"; }
COMP_WORDS=(muster "$@")
COMP_CWORD=$#
_muster muster "\${COMP_WORDS[COMP_CWORD]}" ''
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const answer = execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return answer.split('\n').filter(Boolean);
}

test.each([
  [['sess'], ['session']],
  [['pools', 'l'], ['ls']],
  [
    ['pool', 'ls', '-o', ''],
    ['table', 'json', 'yaml'],
  ],
  [
    ['run', '-p', 'pool', '--t'],
    ['--timeout', '--tty'],
  ],
  [['token', 'create', '--role', 'v'], ['viewer']],
  [['run', '--', 'sess'], []],
  [['run', '-p', 'a'], ['a-of-pool']],
  [['pools', 'show', 'b'], ['b-of-pool']],
  [['logs', 'a'], ['a-of-session']],
  [['session', 'kill', 'a'], ['a-of-session']],
  [['worker', 'drain', 'a'], ['a-of-worker']],
  [['context', 'use', 'a'], ['a-of-context']],
  [['context', 'add', 'a'], []],
])('bash completes %j', async (words, candidates) => {
  expect(await offered(...words)).toEqual(candidates);
});
