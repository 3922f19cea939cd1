import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import runtimes from '#runtimes/index.ts';
import provider from '../index.ts';

const TEMPLATES = ['http_ingress', 'grpc_ingress', 'service', 'statefulset'];

/** The section of a file beside which the templates and the kubeconfig stand. */
function read(more: object) {
  const directory = mkdtempSync(join(tmpdir(), 'muster-set-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const file of [...TEMPLATES, 'kubeconfig']) writeFileSync(join(directory, `${file}.yaml`), '');
  const template_paths = Object.fromEntries(TEMPLATES.map((name) => [name, `${name}.yaml`]));
  const spec = { host: 'http://node-*.localhost', namespace: 'n', image: 'i', template_paths, ...more };
  const file = JSON.stringify({ runtimes: { provisioners: { k: { type: 'kubernetes', spec } } } });
  const kinds = knownKinds([provider], [runtimes.section as NonNullable<typeof runtimes.section>]);
  const { value, problems = [] } = readServerFile(file, { kinds, environment: readEnvironment({}), directory });
  const section = value?.sections.runtimes as
    | { provisioners: { k: { spec: { kubeconfigPath?: string } } } }
    | undefined;
  return {
    directory,
    kubeconfig: section?.provisioners.k.spec.kubeconfigPath,
    problems: problems.map(({ path, line, message }) => `${path}:${line}: ${message.replaceAll(directory, '')}`),
  };
}

test('a kubeconfig stands beside the file that names it', () => {
  const { kubeconfig, directory, problems } = read({ kubeconfig_path: 'kubeconfig.yaml' });

  expect(problems).toEqual([]);
  expect(kubeconfig).toBe(join(directory, 'kubeconfig.yaml'));
});

test('an empty path, or none, is the cluster that the server runs in', () => {
  expect(read({ kubeconfig_path: '' })).toMatchObject({ kubeconfig: '', problems: [] });
  expect(read({})).toMatchObject({ kubeconfig: undefined, problems: [] });
});

test('a kubeconfig or a template that cannot be read refuses the set, by name and place', () => {
  expect(read({ kubeconfig_path: 'kubeconfg.yaml' }).problems).toEqual([
    'runtimes.provisioners.k.spec.kubeconfig_path:1: cannot be read: it does not exist (/kubeconfg.yaml)',
  ]);
  expect(read({ template_paths: { service: 'servic.yaml' } }).problems).toContain(
    'runtimes.provisioners.k.spec.template_paths.service:1: cannot be read: it does not exist (/servic.yaml)',
  );
});
