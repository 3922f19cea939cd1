import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { installScript } from './script.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-script-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const uname = (part: string): string => execFileSync('uname', [part], { encoding: 'utf8' }).trim();

/** The script, and a `curl` before all others that has the archive at hand. */
function placeScript() {
  const [archive, bin, script] = ['agent.tgz', 'bin', 'install.sh'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(join(folder, 'muster-agent'), '#!/bin/sh\n');
  execFileSync('tar', ['-czf', archive, '-C', folder, 'muster-agent']);
  mkdirSync(bin, { recursive: true });
  const curl = `#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp '${archive}' "$2"\n`;
  writeFileSync(join(bin, 'curl'), curl, { mode: 0o755 });
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
  return { script, bin };
}

it.each(['plain', 'a"b', 'new\\new', "it's", '$a `b`', 'x"\\nwork: "y', 'é: #z'])(
  'tells the agent its pool and its name as they were given: %s',
  (name) => {
    const { script, bin } = placeScript();
    const prefix = join(folder, 'prefix');

    const words = ['--pool', name, '--name', name, '--token', name, '--prefix', prefix, '--slots', '2'];
    execFileSync('sh', [script, ...words], { env: { PATH: `${bin}:${process.env.PATH}` }, stdio: 'pipe' });

    expect(parse(readFileSync(join(prefix, 'agent.yaml'), 'utf8'))).toEqual({
      broker: { address: 'http://broker:1', addresses: ['http://b:2', "it's:3"], ca: 'a\nb\n' },
      pool: name,
      join_token: name,
      daemon_config: { max_sessions: 2, work_dir_path: `${prefix}/work`, agent_name: name },
    });
  },
);
