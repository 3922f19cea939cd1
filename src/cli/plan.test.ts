import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PlannedChanges, PlannedPool } from '../api/wire/plan.ts';
import { openScene, refusal } from './testing.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-plan-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const planned = (name: string, over: Partial<PlannedPool> = {}): PlannedPool => ({
  name,
  change: 'change',
  why: 'Changed by it.',
  source: 'team',
  key: name,
  differences: [],
  workers: { start: 0, drain: 0, stop: 0, replace: 0 },
  actions: [],
  next: 'Nothing to do.',
  ...over,
});
const nothing: PlannedChanges = { pools: [], unchanged: ['a', 'b'], refused: [] };
const bad = {
  source: 'team',
  key: 'bad.yaml',
  pool: 'gpu',
  fault: { kind: 'denied' as const, message: 'Too many.', place: 'auto_scaler.max_agents', remedy: 'Take fewer.' },
};

it('is not the only one that takes several documents: pool apply does too', async () => {
  const names = ['a', 'b'];
  const { muster, asked, output, errors } = openScene(() => {
    const name = names.shift();
    return name ? { name, revision: 1 } : refusal(422, { kind: 'invalid', detail: 'No name.', at: 'line 1' });
  });
  const two = file('two.yaml', 'name: a\n---\nname: b\n---\nlabels: {}\n---\nname: d\n');

  const exit = await muster('pool', 'apply', two);

  expect(exit).toBe(2);
  expect(asked.map(({ body }) => body)).toEqual(['name: a\n', '\n   \nname: b\n', '\n\n\n   \nlabels: {}\n']);
  expect(output()).toBe('Pool a applied, revision 1.\nPool b applied, revision 1.\n');
  expect(errors()).toContain(`${two}#3: No name.\n  at line 1\n`);
  expect(errors()).toContain(`Not tried: ${two}#4.`);
});

it('sends the documents of files, each line at its place, and ends with 0 without changes', async () => {
  const { muster, asked, output } = openScene(() => nothing);
  const one = file('one.yaml', 'name: a');
  const two = file('two.yaml', 'name: b\n---\nname: c\n');

  const exit = await muster('plan', one, two, '--source', 'team');

  expect(exit).toBe(0);
  expect(asked[0]).toMatchObject({
    method: 'POST',
    path: '/plans',
    body: {
      source: 'team',
      documents: [
        { key: one, text: 'name: a' },
        { key: `${two}#1`, text: 'name: b\n' },
        { key: `${two}#2`, text: '\n   \nname: c\n' },
      ],
    },
  });
  expect(output()).toBe('No changes; 2 unchanged.\n');
});

it('shows what would change and why, and ends with 2', async () => {
  const pools = [
    planned('gpu', {
      differences: [
        { key: 'auto_scaler.max_agents', before: 5, after: 9 },
        { key: 'auto_scaler.backend.x.token' },
        { key: 'labels.a', after: 'b' },
      ],
      workers: { start: 2, drain: 1, stop: 0, replace: 4 },
      next: 'Two are missing.',
    }),
    planned('old', {
      change: 'remove',
      why: 'Nobody defines it.',
      workers: { start: 0, drain: 0, stop: 3, replace: 0 },
    }),
  ];
  const { muster, asked, output } = openScene(() => ({ pools, unchanged: [], refused: [] }));

  const exit = await muster('plan', '--source', 'a b');

  expect(exit).toBe(2);
  expect(asked[0]).toMatchObject({ method: 'POST', path: '/sources/a%20b/plan' });
  expect(output()).toMatch(
    /^CHANGE\s+POOL\s+SOURCE\s+START\s+DRAIN\s+STOP\s+REPLACE\nchange\s+gpu\s+team\s+2\s+1\s+0\s+4\n/,
  );
  expect(output()).toContain(
    'gpu\n  auto_scaler.max_agents: 5 → 9\n  auto_scaler.backend.x.token: (hidden)\n  labels.a: (nothing) → "b"\n  workers: Two are missing.\n',
  );
  expect(output()).toContain('old\n  Nobody defines it.\n');
  expect(output()).toContain('1 to change, 1 to remove; 0 unchanged.');
});

it('names several problems of a document one a line', async () => {
  const problems = [
    { path: 'a', line: 2, message: 'Wrong.' },
    { path: 'b', line: 3, column: 4, message: 'Wrong, too.' },
  ];
  const fault = { ...bad.fault, message: 'line 2: a: Wrong; line 3, column 4: b: Wrong, too.', problems };
  const { muster, output } = openScene(() => ({ ...nothing, refused: [{ ...bad, fault }] }));

  await muster('plan', '--source', 'team');

  expect(output()).toContain(
    'refused bad.yaml:\n  line 2: a: Wrong.\n  line 3, column 4: b: Wrong, too.\n  Take fewer.',
  );
});

it('names what is refused with its place and remedy, and ends with 1 though there are changes', async () => {
  const { muster, output } = openScene(() => ({ ...nothing, pools: [planned('x')], refused: [bad] }));

  const exit = await muster('plan', '--source', 'team');

  expect(exit).toBe(1);
  expect(output()).toContain(
    'refused bad.yaml: auto_scaler.max_agents: Too many.\n  Take fewer. Pool gpu stays as it is.',
  );
  expect(output()).toContain('2 unchanged; 1 refused.');
});

it('is JSON where that is wanted, and says what the server refuses', async () => {
  const { muster, output } = openScene(() => nothing);
  const away = openScene(() => refusal(404, { kind: 'missing', detail: 'No such source.', remedy: 'Look.' }));

  await muster('plan', '--source', 'team', '-o', 'json');

  expect(JSON.parse(output())).toEqual(nothing);
  expect(await away.muster('plan', '--source', 'team')).toBe(4);
});

it('needs a file or a source, and does not end like a plan with changes', async () => {
  const { muster, errors, asked } = openScene(() => nothing);

  expect(await muster('plan')).toBe(1);
  expect(await muster('plan', folder)).toBe(1);
  expect(await muster('plan', join(folder, 'none.yaml'))).toBe(4);
  expect(await muster('pool', 'apply', join(folder, 'none.yaml'))).toBe(4);
  expect(errors()).toContain('Nothing to plan.');
  expect(errors()).toContain('none.yaml: it does not exist.');
  expect(asked).toEqual([]);
});

it('shows beside a change which limits cost more than they seem to', async () => {
  const warnings = ['idle_decay 5m has no effect.'];
  const { muster, output } = openScene(() => ({ ...nothing, pools: [planned('gpu', { warnings })] }));

  await muster('plan', file('gpu.yaml', 'name: gpu'));

  expect(output()).toContain('\n  warning idle_decay 5m has no effect.\n');
});

it('prints what a pool costs at rest, as expected and at most, and what replacing waits for', async () => {
  const dollars = {
    at_rest: { before: 1, after: 2.5 },
    expected: { before: 3, after: 3 },
    at_most: { after: 60 },
    notes: ['1 of 2 backends have no price.'],
  };
  const workers = { start: 0, drain: 0, stop: 0, replace: 4 };
  const one = planned('gpu', { dollars, workers, awaited_sessions: 2, replaced_after: '8m' });
  const { muster, asked, output } = openScene(() => ({ ...nothing, pools: [one] }));

  await muster('plan', file('gpu.yaml', 'name: gpu'));

  expect(asked[0]?.body).toMatchObject({ expected: true });
  expect(output()).toContain('dollars/h: at rest 1 → 2.5, expected 3, at most 60\n  1 of 2 backends have no price.');
  expect(output()).toContain('2 sessions end first; replacing 4 takes about 8m');
});
