// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a shell must not touch.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { renderGcs, renderSsm } from './shell.ts';

const document = { name: 'a', description: 'it\'s "so" $(id) `id` ${HOME} \\ !! \n* ü %s' };
const pool = { name: 'a', source: 's', key: 'a', left_out: ['x.y'], refused_elsewhere: ['z'], document };

/** What the programs of the clouds would get. */
function run(commands: string): string {
  const stands = 'aws() { printf "%s\\n" "$9"; }\ngcloud() { cat; }\n';
  return execFileSync('/bin/sh', { input: stands + commands, encoding: 'utf8' });
}

it('what a shell makes of the commands is the document, letter by letter', () => {
  expect(JSON.parse(run(renderSsm(pool, {})))).toEqual(document);
  expect(JSON.parse(run(renderGcs(pool, { bucket: 'b' })))).toEqual(document);
});
