// The script of a machine that has an end, in a real shell: what is left of it, and what it asks of systemd.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentFile } from './agent-file.ts';
import { bootScript } from './script.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'muster-boot-'));
  mkdirSync(join(place, 'bin'));
  program('bin/systemctl', `echo "$@" >> ${place}/systemctl.log`);
  program('bin/curl', 'exit 7');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function program(path: string, text: string): void {
  mkdirSync(join(place, path, '..'), { recursive: true });
  writeFileSync(join(place, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

const asked = (): string[] => readFileSync(join(place, 'systemctl.log'), 'utf8').split('\n').filter(Boolean);

function boot(config: string): { status: number | null; stderr: string } {
  const script = bootScript({
    naming: { name: 'm-1' },
    agentFile: agentFile({ agentConfig: config, token: 'mlt_t' }, {}),
    install: undefined,
  });
  const env = { PATH: `${place}/bin:/usr/bin:/bin`, MUSTER_ROOT: join(place, 'root'), TMPDIR: place };
  return spawnSync('/bin/sh', [], { input: script, env, encoding: 'utf8' });
}

const ENDS = 'pool: gpu\nendsAt: 2026-01-01T00:00:00.000Z\n';
const unit = (): string => readFileSync(join(place, 'root/etc/systemd/system/muster-agent.service'), 'utf8');

test('the unit of a machine with an end powers it off when the agent says that its time is over', () => {
  program('root/opt/muster/muster-agent', '');

  expect(boot(ENDS)).toMatchObject({ status: 0, stderr: '' });
  expect(unit()).toContain(`
ExecStart=${place}/root/opt/muster/muster-agent --config ${place}/root/etc/muster/agent.yaml --end-code 80
Restart=always
RestartSec=5
ExecStopPost=/bin/sh -c '[ "$$EXIT_STATUS" != 80 ] || systemctl poweroff'
KillMode=process
`);
  expect(asked()).toEqual(['daemon-reload', 'enable --now muster-agent']);
});

test('a machine without an end, and one whose pool only names the key, is never powered off', () => {
  program('root/opt/muster/muster-agent', '');

  for (const config of ['pool: gpu\n', 'pool: gpu\nlabels:\n  endsAt: never\n']) {
    expect(boot(config).status).toBe(0);
    expect(unit()).not.toMatch(/end-code|ExecStopPost/);
  }
});

test('a machine with an end that gets no agent is powered off at once, and one without an end stays', () => {
  const stderr = 'muster: this machine has no agent, and its server offers none\n';
  expect(boot('pool: gpu\n')).toMatchObject({ status: 1, stderr });
  expect(asked).toThrow('ENOENT');

  expect(boot(ENDS)).toMatchObject({ status: 1, stderr });
  expect(asked()).toEqual(['poweroff']);
});

test('a machine that runs the script again at each boot is not powered off because that failed once', () => {
  program('root/opt/muster/muster-agent', '');
  boot(ENDS);
  rmSync(join(place, 'root/opt'), { recursive: true });

  expect(boot(ENDS).status).toBe(1);
  expect(asked()).not.toContain('poweroff');
});
