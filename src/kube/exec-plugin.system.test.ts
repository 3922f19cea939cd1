import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { until } from '#core/testing/until.ts';
import { openExecPlugin } from './exec-plugin.ts';
import type { ExecSpec } from './kubeconfig-file.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'exec-plugin-'));
afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

const V1 = 'client.authentication.k8s.io/v1';

let made = 0;
/** A program that notes each run, then does what the lines say. */
function program(...lines: readonly string[]) {
  const name = `plugin-${made++}`;
  const runs = join(ROOT, `${name}.runs`);
  writeFileSync(join(ROOT, name), ['#!/bin/sh', `echo run >> '${runs}'`, ...lines, ''].join('\n'));
  chmodSync(join(ROOT, name), 0o755);
  return {
    command: `./${name}`,
    runs: () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n').length : 0),
  };
}

const answer = (status: object, apiVersion = V1): string =>
  `echo '${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}'`;

function open(spec: Partial<ExecSpec> & { command: string }, nowMs = () => systemClock.now()) {
  const clock = { ...systemClock, now: nowMs };
  const cluster = {
    server: 'https://dev.test',
    extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }],
  };
  return openExecPlugin({
    clock,
    cluster,
    ca: 'the ca',
    spec: { value: { apiVersion: V1, ...spec }, file: join(ROOT, 'config') },
  });
}

const faultOf = async (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => new Fault('internal', 'none'),
    (thrown) => thrown,
  );

describe('an exec plugin', () => {
  it('is run once for all who ask, until its credential is about to expire', async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const { command, runs } = program(answer({ token: 't1', expirationTimestamp: '2026-01-01T01:00:00Z' }));
    const plugin = open({ command }, () => nowMs);
    const all = await Promise.all([plugin.get(going()), plugin.get(going())]);
    nowMs += 58 * 60_000;
    await plugin.get(going());

    expect(all.map(({ token }) => token)).toEqual(['t1', 't1']);
    expect(runs()).toBe(1);
    nowMs += 90_000;
    await plugin.get(going());
    expect(runs()).toBe(2);
  });

  it('is run again when its credential was refused', async () => {
    const { command, runs } = program(answer({ clientCertificateData: 'the cert', clientKeyData: 'the key' }));
    const plugin = open({ command });

    expect(await plugin.get(going())).toMatchObject({ cert: 'the cert', key: 'the key' });
    plugin.refused();
    await plugin.get(going());
    expect(runs()).toBe(2);
  });

  it('gets its arguments, its variables and what it logs in to, and keeps our environment', async () => {
    const seen = join(ROOT, 'seen');
    const { command } = program(
      `printf '%s\\n' "$1" "$STAGE" "$KUBERNETES_EXEC_INFO" "\${HOME:+home}" > '${seen}'`,
      answer({ token: 't' }),
    );
    await open({ command, args: ["it's $HOME"], env: [{ name: 'STAGE', value: 'dev' }], provideClusterInfo: true }).get(
      going(),
    );
    const [argument, stage, info = '', home] = readFileSync(seen, 'utf8').split('\n');

    expect([argument, stage, home]).toEqual(["it's $HOME", 'dev', 'home']);
    expect(JSON.parse(info)).toEqual({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: {
          server: 'https://dev.test',
          'certificate-authority-data': Buffer.from('the ca').toString('base64'),
          config: { audience: 'a' },
        },
      },
    });
  });

  it('that is not installed is named, with the hint of the kubeconfig', async () => {
    const hinted = await faultOf(
      open({ command: 'no-such-auth-plugin', installHint: 'Get it from\nthe shop.' }).get(going()),
    );
    const bare = await faultOf(open({ command: 'no-such-auth-plugin' }).get(going()));

    expect([hinted.message, hinted.remedy]).toEqual([
      'The kubeconfig asks no-such-auth-plugin for credentials, which is not installed here.',
      'Get it from the shop.',
    ]);
    expect(bare.remedy).toContain('Install no-such-auth-plugin');
  });

  it('that fails is a fault with its words but without its secrets, and is not run for every request', async () => {
    const { command, runs } = program('echo "login expired for $KEY" >&2', 'exit 3');
    const plugin = open({ command, env: [{ name: 'KEY', value: 'planted-secret' }] });
    const fault = await faultOf(plugin.get(going()));
    await faultOf(plugin.get(going()));

    expect(fault).toMatchObject({ kind: 'unauthenticated' });
    expect(fault.message).toContain('returned 3: login expired for ***');
    expect(runs()).toBe(1);
  });

  it.each([
    ['prints no credential', ['echo planted-secret'], {}, 'printed no ExecCredential'],
    ['prints an empty one', [answer({})], {}, 'printed no ExecCredential'],
    [
      'answers in another version',
      [answer({ token: 'planted-secret' }, 'client.authentication.k8s.io/v1beta1')],
      {},
      'v1beta1',
    ],
    [
      'is asked in a version that is no more',
      [answer({ token: 't' })],
      { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      'v1alpha1',
    ],
    ['wants a terminal', [answer({ token: 't' })], { interactiveMode: 'Always' as const }, 'terminal'],
  ])('that %s is a fault', async (_, lines, spec, message) => {
    const fault = await faultOf(open({ ...program(...lines), ...spec }).get(going()));

    expect(fault.message).toContain(message);
    expect(fault.message).not.toContain('planted-secret');
  });

  it('ends with the access, and a caller who gives up does not wait for it', async () => {
    const pidFile = join(ROOT, 'pid');
    const { command } = program(`echo $$ > '${pidFile}'`, 'sleep 1000');
    const plugin = open({ command });
    const giveUp = new AbortController();
    const left = faultOf(plugin.get(giveUp.signal));
    const staying = faultOf(plugin.get(going()));
    const pid = Number(
      await until('the plugin runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim()),
    );
    giveUp.abort();

    expect(await left).toMatchObject({ kind: 'unavailable' });
    plugin.close();
    expect(await staying).toBeInstanceOf(Fault);
    await until('it is gone', () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
    expect(await faultOf(plugin.get(going()))).toBeInstanceOf(Fault);
  });
});
