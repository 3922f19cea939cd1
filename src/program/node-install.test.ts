// What sizing nodes adds to an installation: by `muster kube` and by the chart the same.
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import gcp from '../providers/gcp/index.ts';
import kubernetes from '../providers/kubernetes/index.ts';
import type { Manifest } from '../providers/kubernetes/install/manifest.ts';
import { chartFile, renderChart } from '../providers/kubernetes/install/testing.ts';
import { features } from './features.gen.ts';
import { sectionsOf } from './features.ts';
import { kubePart } from './kube.ts';

const local = kubePart(readEnvironment({}));
const objectsIn = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const named = (objects: readonly Manifest[], kind: string, name: string): Manifest =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) ?? expect.fail(`no ${kind} ${name}`);
const fileIn = (objects: readonly Manifest[]): string =>
  (named(objects, 'ConfigMap', 'velda-apiserver').data as Record<string, string>)['config.yaml'] ?? '';
const read = (text: string) =>
  readServerFile(text, {
    kinds: knownKinds([kubernetes, gcp], sectionsOf(features)),
    environment: readEnvironment({}),
  });

const ACCOUNTS = [{ gce: { project: 'ml-prod' }, groups: ['gpu-*'], max_nodes: 40 }];

describe('an installation that sizes nodes', () => {
  it('has the definition of NodeProvisioners and a ClusterRole of its own, whatever namespaces are served', async () => {
    const objects = objectsIn(await local.install({ nodes: true, served: ['ml'] }));

    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      expect.arrayContaining([
        'CustomResourceDefinition nodeprovisioners.compute.baseten.co',
        'ClusterRole velda:velda-apiserver-nodes',
        'ClusterRoleBinding velda:velda-apiserver-nodes',
      ]),
    );
    expect(named(objects, 'ClusterRoleBinding', 'velda:velda-apiserver-nodes').subjects).toEqual([
      { kind: 'ServiceAccount', name: 'velda-apiserver', namespace: 'velda' },
    ]);
    expect(read(fileIn(objects)).problems).toBeUndefined();
    expect(await local.crd({ hasRules: false, ofNodes: true })).toContain('name: nodeprovisioners.compute.baseten.co');
  });

  it('gives the same rights and the same file by the chart', async () => {
    const plain = objectsIn(await local.install({ nodes: true }));
    const chart = renderChart({ 'nodes.enabled': true });

    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
      const { rules, roleRef, subjects } = named(chart, kind, 'velda:velda-apiserver-nodes');
      expect(named(plain, kind, 'velda:velda-apiserver-nodes')).toMatchObject(
        JSON.parse(JSON.stringify({ rules, roleRef, subjects })),
      );
    }
    expect(parse(fileIn(chart))).toEqual(parse(fileIn(plain)));
  });

  it('takes the accounts from the values of the chart', () => {
    const text = fileIn(renderChart({ 'nodes.enabled': true, 'nodes.accounts': ACCOUNTS }));

    expect(parse(text).nodes).toEqual({ accounts: ACCOUNTS });
    expect(read(text).problems).toBeUndefined();
  });

  it('frees the nodes before it is uninstalled', () => {
    const chart = renderChart({ 'nodes.enabled': true });
    const job = named(chart, 'Job', 'velda-apiserver-release') as unknown as {
      spec: { template: { spec: { containers: [{ args: string[] }] } } };
    };

    expect(job.spec.template.spec.containers[0].args).toContain('--nodes');
    expect(named(chart, 'ClusterRole', 'velda:velda-apiserver-nodes-release').rules).toEqual(
      parse(chartFile('files/rights.yaml')).release.nodes,
    );
  });
});

describe('an installation that does not', () => {
  it.each([
    ['the manifests', () => local.install({})],
    ['the rights alone', () => local.rbac({})],
  ])('grants no right on nodes: %s', async (_title, render) => {
    expect(await render()).not.toMatch(/\bnodes\b|nodeprovisioners/);
  });

  it('grants no right on nodes by the chart, and opens nothing', () => {
    const objects = renderChart({ 'nodes.accounts': ACCOUNTS });

    expect(JSON.stringify(objects.filter(({ kind }) => kind.endsWith('Role')))).not.toContain('"nodes"');
    expect(parse(fileIn(objects))).not.toHaveProperty('nodes');
  });
});
