import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Forecast, Shadow } from '../api/wire/forecast.ts';
import type { Local, LocalForecast } from './command.ts';
import { openScene } from './testing.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-whatif-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const figures = {
  ...{ sessions: 9_438, waiting: 0, waits: { p50: '0s', p95: '2m', p99: '2m10s' }, launches: 900, refused: 2 },
  ...{ machine_hours: 812.25, dollars: 1_624.5, machines_without_price: 0 },
};
const about = { pool: 'gpu', from: '2026-11-12T00:00:00.000Z', until: '2026-11-19T00:00:00.000Z' };
const forecast: Forecast = { ...about, sessions: 9_438, seed: 1, today: figures, recorded: figures, notes: [] };
const other: NonNullable<Forecast['other']> = {
  ...{ ...figures, waits: { ...figures.waits, p95: '0s' }, machines_without_price: 3 },
  ...{ set: { min_idle_agents: 2 }, warnings: ['min_idle_agents: is large'] },
  first_difference: {
    at: '2026-11-12T00:00:00.000Z',
    other: { at: '2026-11-12T00:00:00.000Z', did: 'launch 2', why: 'Two are to idle.' },
  },
};

describe('muster whatif', () => {
  it('asks for the policy as a document would have it', async () => {
    const { muster, asked } = openScene(() => forecast);

    const exit = await muster('whatif', 'gpu', '--set', 'max_agents=2', '--set', 'idle_decay=5m', '--since', '7d');

    expect(exit).toBe(0);
    const body = { pool: 'gpu', set: { max_agents: 2, idle_decay: '5m' }, seed: 1, since: '7d' };
    expect(asked).toMatchObject([{ method: 'POST', path: '/forecasts', body }]);
  });

  it('shows the policies side by side, the first difference and every note', async () => {
    const { muster, output } = openScene(() => ({ ...forecast, other, notes: ['2 have no price.'] }));

    await muster('whatif', 'gpu', '--set', 'min_idle_agents=2');

    expect(output()).toMatch(
      /^Pool gpu, from 2026-11-12 00:00:00Z to 2026-11-19 00:00:00Z\. RECORDED is what happened/,
    );
    expect(output()).toMatch(/ RECORDED +TODAY +min_idle_agents=2\n/);
    expect(output()).toMatch(/\nwait p95 +2m +2m +0s\n/);
    expect(output()).toMatch(/\ndollars +1624\.50 +1624\.50 +1624\.50, 3 machines without a price\n/);
    expect(output()).toContain(
      'First decision that differs: 2026-11-12 00:00:00Z\n  today: nothing yet\n  min_idle_agents=2: launch 2. Two are to idle.\n',
    );
    expect(output()).toContain('note min_idle_agents=2: min_idle_agents: is large\n');
    expect(output()).toContain('note 2 have no price.\n');
  });

  it('says that policies decide the same, and prints JSON where that is wanted', async () => {
    const same = { ...forecast, other: { ...other, first_difference: undefined } };
    const { muster, output } = openScene(() => same);

    await muster('whatif', 'gpu', '--set', 'x=1');
    expect(output()).toContain('\nBoth policies decide the same.\n');

    const scene = openScene(() => forecast);
    await scene.muster('whatif', 'gpu', '-o', 'json');
    expect(JSON.parse(scene.output())).toEqual(forecast);
  });

  it('takes a rate for a demand', async () => {
    const { muster, asked } = openScene(() => forecast);

    await muster('whatif', 'gpu', '--sessions', '8/m', '--lasting', '6m', '--for', '4h');

    expect(asked[0]?.body).toEqual({ pool: 'gpu', rate: { per_hour: 480, lasting: '6m', for: '4h' }, seed: 1 });
  });

  it('runs a document that no server has over a trace, without a server', async () => {
    const questions: LocalForecast[] = [];
    const scene = openScene(() => new Error('no server'), {
      local: {
        async forecast(question: LocalForecast) {
          questions.push(question);
          return forecast;
        },
      } as unknown as Local,
    });
    const [jobs, gpu] = [file('jobs.csv', 'begin,seconds\n5,6\n'), file('gpu.yaml', 'name: gpu\n')];

    const words = ['--trace', jobs, '--columns', 'submitted=begin', '--pool', gpu, '--set', 'max_agents=3'];
    expect(await scene.muster('whatif', ...words)).toBe(0);

    const trace = [{ submitted: 5, seconds: 6 }];
    const document = { key: gpu, text: 'name: gpu\n' };
    expect(questions).toEqual([{ document, set: { max_agents: 3 }, seed: 1, trace }]);
    expect(scene.asked).toEqual([]);
  });

  it('says what is missing or too much before it asks anybody', async () => {
    const { muster, asked, errors } = openScene(() => forecast);
    const gpu = file('gpu.yaml', 'name: gpu\n---\nname: b\n');
    const refused: readonly (readonly [string, ...string[]])[] = [
      ['Which pool?'],
      ['is not a rate', 'gpu', '--sessions', '500'],
      ['not how long each takes', 'gpu', '--sessions', '500/h'],
      ['not how many come', 'gpu', '--lasting', '5m'],
      ['more than one demand', 'gpu', '--since', '7d', '--trace', 'x.csv'],
      ['has no history', '--pool', gpu],
      ['a pool of the server and a file', 'gpu', '--pool', gpu],
      ['holds several documents', '--pool', gpu, '--sessions', '1/h', '--lasting', '1m'],
      ['--set min_idle_agents is not NAME=VALUE', 'gpu', '--set', 'min_idle_agents'],
      ['is not a value as YAML has it', 'gpu', '--set', 'schedules=[{'],
      ['nope.csv: it does not exist', 'gpu', '--trace', join(folder, 'nope.csv')],
    ];
    for (const [message, ...words] of refused) {
      expect(await muster('whatif', ...words)).not.toBe(0);
      expect(errors()).toContain(message);
    }
    expect(asked).toEqual([]);
  });
});

describe('muster pool shadow', () => {
  const shadow: Shadow = { pool: 'gpu', since: '2026-11-12T00:00:00.000Z', by: 'token:ann' };

  it('sets the policy of a file, shows what has come of it, and ends it', async () => {
    const { set: _, ...computed } = other;
    const found = { ...shadow, forecast: { ...forecast, other: computed }, problem: 'Too many records.' };
    const { muster, asked, output } = openScene(({ method }) => (method === 'PUT' ? shadow : found));

    expect(await muster('pool', 'shadow', 'gpu', file('gpu.yaml', 'name: gpu\n'))).toBe(0);
    expect(output()).toContain('Set 2026-11-12 00:00:00Z by token:ann; computed again every 5 minutes. It decides');
    expect(output()).toContain('Nothing has been computed yet for pool gpu.');
    await muster('pool', 'shadow', 'gpu');
    expect(output()).toMatch(/ RECORDED +TODAY +SHADOW\n/);
    expect(output()).toContain('\n  SHADOW: launch 2. Two are to idle.\n');
    expect(output()).toContain('note Too many records.');
    await muster('pool', 'shadow', 'gpu', '--off');
    expect(output()).toContain('Pool gpu has no shadow.');

    expect(asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PUT', '/pools/gpu/shadow', 'name: gpu\n'],
      ['GET', '/pools/gpu/shadow', undefined],
      ['DELETE', '/pools/gpu/shadow', undefined],
    ]);
  });

  it('refuses a file beside --off', async () => {
    const { muster, asked, errors } = openScene(() => shadow);

    expect(await muster('pool', 'shadow', 'gpu', 'gpu.yaml', '--off')).toBe(2);
    expect(errors()).toContain('--off ends the shadow; it takes no file.');
    expect(asked).toEqual([]);
  });
});
