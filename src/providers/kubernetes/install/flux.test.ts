import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest.ts';
import { renderChart } from './testing.ts';

const DEPLOY = join(import.meta.dirname, '../../../../deploy');
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');
const objectsOf = (path: string): Manifest[] => parseAllDocuments(read(path)).map((one) => one.toJS() as Manifest);

interface Release {
  readonly chart: { readonly spec: { readonly chart: string; readonly sourceRef: object } };
  readonly values: { readonly image: { readonly tag: string }; readonly nodes: { readonly accounts: unknown[] } };
  readonly install: { readonly crds: string };
  readonly upgrade: { readonly crds: string };
}

const objects = objectsOf('flux/muster.yaml');
const spec = objects.find(({ kind }) => kind === 'HelmRelease')?.spec as unknown as Release;

it('the release of the Flux example installs the chart with the image, the accounts and the rights on nodes', () => {
  const rendered = renderChart({ ...spec.values });
  const file = rendered.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
  const roles = rendered.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
  const [text = ''] = Object.values(file.data);

  expect(parse(text)).toMatchObject({ nodes: { accounts: [{ gce: { project: 'my-project' }, groups: ['grp-*'] }] } });
  expect(roles).toContainEqual(expect.stringMatching(/-nodes$/));
  expect(JSON.stringify(rendered)).toContain(`registry.example/muster/server:${spec.values.image.tag}`);
  expect([spec.install.crds, spec.upgrade.crds]).toEqual(['CreateReplace', 'CreateReplace']);
});

it('the objects of the Flux example name each other as they are called', () => {
  const names = (kind: string): string[] =>
    [...objects, ...objectsOf('flux/kustomizations.yaml')].flatMap((one) =>
      one.kind === kind ? [one.metadata.name ?? ''] : [],
    );
  const [, second] = objectsOf('flux/kustomizations.yaml') as unknown as {
    spec: { dependsOn: { name: string }[]; healthChecks: { kind: string; name: string; apiVersion: string }[] };
  }[];
  const example = parse(read('kubernetes/examples/nodes/h100.yaml')) as Manifest;

  expect(names('GitRepository')).toContain((spec.chart.spec.sourceRef as { name: string }).name);
  expect(read('../deploy/helm/muster/Chart.yaml')).toContain('name: muster');
  expect(spec.chart.spec.chart).toBe('deploy/helm/muster');
  expect(names('Kustomization')).toContain(second?.spec.dependsOn[0]?.name);
  expect(second?.spec.healthChecks).toEqual([
    { apiVersion: example.apiVersion, kind: example.kind, name: example.metadata.name },
  ]);
});
