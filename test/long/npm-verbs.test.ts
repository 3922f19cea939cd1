// The verbs of node-provisioner as a user types them, with stand-ins for docker, kubectl and helm that record their words.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../house/tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-verbs-'));
const record = join(folder, 'called');
afterAll(() => rmSync(folder, { recursive: true }));

for (const program of ['docker', 'kubectl', 'helm']) {
  const path = join(folder, program);
  writeFileSync(path, `#!/bin/sh\necho "${program} $*" >> '${record}'\n`);
  chmodSync(path, 0o755);
}

/** What the verb printed, and what it called. */
function npmRun(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  rmSync(record, { force: true });
  const env = { ...process.env, ...variables, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const out = execFileSync('npm', ['run', '--silent', ...words], { cwd: ROOT, env, encoding: 'utf8', stdio: 'pipe' });
  return { out, called: existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [] };
}

test('npm run build_docker builds an image whose tag is branch, commit and time', () => {
  const { out, called } = npmRun(['build_docker'], { IMAGE_REPOSITORY: 'example.com/muster' });

  expect(out).toMatch(/^example\.com\/muster:[\w.-]+-[0-9a-f]{7,}-\d{14}\n$/);
  expect(called).toEqual([`docker build -f deploy/docker/server.Dockerfile -t ${out.trim()} .`]);
});

test('IMAGE_TAG=… npm run helm_upgrade applies the definitions before the chart', () => {
  const { called } = npmRun(['helm_upgrade', '--', '--set', 'replicas=1'], { IMAGE_TAG: 'main-1-2' });

  expect(called[0]).toBe('kubectl apply --server-side --force-conflicts -f deploy/helm/muster/crds');
  expect(called[1]).toMatch(
    /^helm upgrade muster .*nodes\.enabled=true --set-string image\.tag=main-1-2 --set replicas=1$/,
  );
});

test('npm run helm_uninstall takes the release away', () => {
  expect(npmRun(['helm_uninstall']).called).toEqual(['helm uninstall muster --namespace velda']);
});

test('npm run manifests and generate write what is generated, and change nothing where it is up to date', () => {
  expect(npmRun(['manifests']).out).toBe('');
  expect(npmRun(['generate']).out).toBe('');
});
