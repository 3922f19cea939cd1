import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_PATH, findProgram } from '#host/programs.ts';
import { installScript } from './script.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-script-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const uname = (part: string): string => execFileSync('uname', [part], { encoding: 'utf8' }).trim();

// All that the script asks of a machine, beside a program that downloads.
const TOOLS = 'sh tar gzip sha256sum shasum uname mktemp mkdir chmod sed rm cat id cp'.split(' ');

/** The script, and a machine with that program, which has the archive at hand. */
function placeScript({ downloader = 'curl', node = 'echo v24' } = {}) {
  const [archive, bin, script] = ['agent.tgz', 'bin', 'install.sh'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const [name, text] of [
    ['muster-agent', ''],
    ['node', node],
  ] as const)
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  execFileSync('tar', ['-czf', archive, '-C', folder, 'muster-agent', 'node']);
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  for (const tool of TOOLS) {
    const found = findProgram(tool, DEFAULT_PATH);
    if (found) symlinkSync(found, join(bin, tool));
  }
  const option = downloader === 'wget' ? '-O' : '-o';
  const download = `#!/bin/sh\nwhile [ "$1" != ${option} ]; do shift; done\ncp '${archive}' "$2"\n`;
  if (downloader !== '') writeFileSync(join(bin, downloader), download, { mode: 0o755 });
  const sha256 = hash('sha256', readFileSync(archive));
  const archives = [{ system: uname('-s'), machine: uname('-m'), name: 'agent.tgz', sha256 }];
  const facts = {
    origin: 'http://server',
    broker: 'http://broker:1',
    otherBrokers: ['http://b:2', "it's:3"],
    brokerCa: 'a\nb',
    originCa: undefined,
    archives,
  };
  writeFileSync(script, installScript(facts));
  const prefix = join(folder, 'prefix');
  rmSync(prefix, { recursive: true, force: true });
  const run = (...words: string[]) =>
    spawnSync('/bin/sh', [script, ...words, '--prefix', prefix], { env: { PATH: bin }, encoding: 'utf8' });
  return { run, prefix };
}

it.each(['plain', 'a"b', 'new\\new', "it's", '$a `b`', 'x"\\nwork: "y', 'é: #z'])(
  'tells the agent its pool and its name as they were given: %s',
  (name) => {
    const { run, prefix } = placeScript();

    const { status, stderr } = run('--pool', name, '--name', name, '--token', name, '--slots', '2');

    expect([status, stderr]).toEqual([0, '']);
    expect(parse(readFileSync(join(prefix, 'agent.yaml'), 'utf8'))).toEqual({
      broker: { address: 'http://broker:1', addresses: ['http://b:2', "it's:3"], ca: 'a\nb\n' },
      pool: name,
      join_token: name,
      daemon_config: { max_sessions: 2, work_dir_path: `${prefix}/work`, agent_name: name },
    });
  },
);

it('takes wget where there is no curl', () => {
  const { run, prefix } = placeScript({ downloader: 'wget' });

  expect(run('--pool', 'edge')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(join(prefix, 'muster-agent'))).toBe(true);
});

it('says what to install where there is neither curl nor wget', () => {
  expect(placeScript({ downloader: '' }).run('--pool', 'edge')).toMatchObject({
    status: 1,
    stderr: 'muster: this machine has neither curl nor wget: install one of them, then run this script again\n',
  });
});

it('says why the agent cannot run where its Node does not start', () => {
  const said = 'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file';
  const { run } = placeScript({ node: `echo '${said}' >&2; exit 127` });

  expect(run('--pool', 'edge')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`its Node does not start on this machine: ${said}. Install what it lacks`),
  });
});
