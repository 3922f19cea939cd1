// Writes everything that is generated; with --check only compares; `--below FOLDER`: what is in that folder alone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { editorSchema } from '../src/config/editor-schema.ts';
import { type KnownKinds, knownKinds } from '../src/config/kinds.ts';
import type { Provider } from '../src/core/provider.ts';
import type { ListedSimulation, Simulation } from '../src/core/simulation.ts';
import { type AnyFeature, sectionsOf } from '../src/program/features.ts';
import { renderConfiguration } from './config-reference.ts';
import { renderFaults } from './fault-reference.ts';
import { noticeIds, renderNoticeList } from './notice-list.ts';
import {
  renderBenchList,
  renderCommandList,
  renderFeatureList,
  renderNounList,
  renderWebNounList,
} from './noun-lists.ts';
import { providerIds, renderProviderList, renderSimulationList, simulationIds } from './provider-list.ts';
import { reasonFolders, renderReasonList, renderReasons } from './reason-list.ts';
import { renderTableList } from './table-list.ts';
import { renderTemplates } from './template-reference.ts';

/** One generated file; rendered in this order, since the docs need the lists. */
export interface Generated {
  readonly file: string;
  render(root: string): string | Promise<string>;
}

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8');

const PROVIDERS = 'src/providers/providers.gen.ts';

export const GENERATED: readonly Generated[] = [
  { file: 'src/core/tables.gen.ts', render: (root) => renderTableList(join(root, 'src/core')) },
  { file: PROVIDERS, render: (root) => renderProviderList(providerIds(join(root, 'src/providers'))) },
  {
    file: 'src/providers/simulations.gen.ts',
    render: async (root) => renderSimulationList(await allSimulations(root)),
  },
  { file: 'src/api/nouns.gen.ts', render: renderNounList },
  { file: 'src/web/nouns.gen.ts', render: renderWebNounList },
  { file: 'src/program/features.gen.ts', render: renderFeatureList },
  { file: 'src/cli/commands.gen.ts', render: renderCommandList },
  { file: 'bench/benches.gen.ts', render: renderBenchList },
  {
    file: 'src/agent/notices.gen.ts',
    render: (root) => renderNoticeList(noticeIds(join(root, 'src/agent/notices'))),
  },
  { file: 'docs/reference/muster.schema.json', render: async (root) => editorSchema('server', await allKinds(root)) },
  { file: 'docs/reference/pool.schema.json', render: async (root) => editorSchema('pool', await allKinds(root)) },
  { file: 'docs/reference/configuration.md', render: async (root) => renderConfiguration(await allKinds(root)) },
  { file: 'src/api/reasons.gen.ts', render: (root) => renderReasonList(reasonFolders(join(root, 'src'))) },
  { file: 'docs/reference/reasons.md', render: (root) => renderReasons(join(root, 'src')) },
  { file: 'docs/reference/faults.md', render: renderFaults },
  { file: 'docs/reference/templates.md', render: renderTemplates },
  // These read the lists above, so they are loaded only once those are written.
  {
    file: 'docs/reference/cli.md',
    render: async (root) => (await import('./cli-reference.ts')).renderCli(await allSimulations(root)),
  },
  ...(
    [
      ['deploy/kubernetes/agentpool-crd.yaml', 'crdFile'],
      ['deploy/kubernetes/agentpool-crd-cel.yaml', 'ruledCrdFile'],
      ['deploy/kubernetes/velda-rbac.yaml', 'rbacFile'],
      ['deploy/kubernetes/muster.yaml', 'serverFileText'],
      ['deploy/helm/muster/crds/agentpool-crd.yaml', 'ruledCrdFile'],
    ] as const
  ).map(([file, make]) => ({
    file,
    render: async () => (await import('../src/providers/kubernetes/install/files.ts'))[make](),
  })),
  ...['deploy/kubernetes/nodeprovisioner-crd.yaml', 'deploy/helm/muster/crds/nodeprovisioner-crd.yaml'].map((file) => ({
    file,
    render: async () => (await import('./node-install.ts')).renderNodesCrd(),
  })),
  {
    file: 'deploy/helm/muster/files/rights.yaml',
    render: async () => (await import('./node-install.ts')).renderChartRights(),
  },
  // A chart reads only files of its own folder.
  {
    file: 'deploy/helm/muster/files/alerts.yaml',
    render: (root) =>
      `# Written by "npm run gen" from deploy/monitoring/alerts.yaml; do not edit.\n${read(root, 'deploy/monitoring/alerts.yaml')}`,
  },
  {
    file: 'deploy/helm/muster/files/dashboard.json',
    render: (root) => read(root, 'deploy/monitoring/dashboard.json'),
  },
  {
    file: 'docs/reference/metrics.md',
    render: async () => (await import('./metrics-reference.ts')).renderMetrics(),
  },
  { file: 'src/client/api.gen.ts', render: async () => (await import('./api-types.ts')).renderApiTypes() },
  { file: 'docs/reference/api.md', render: async () => (await import('./api-reference.ts')).renderApi() },
];

/** The kinds of every provider in the tree, whether or not the list already names it. */
export async function allKinds(root: string): Promise<KnownKinds> {
  const loaded = (await Promise.all(
    providerIds(join(root, 'src/providers')).map((id) => import(join(root, 'src/providers', id, 'index.ts'))),
  )) as readonly { default: Provider }[];
  const { features } = (await import(join(root, 'src/program/features.gen.ts'))) as { features: readonly AnyFeature[] };
  return knownKinds(
    loaded.map((module) => module.default),
    sectionsOf(features),
  );
}

/** The simulated clouds in the tree, whether or not the list already names them. */
export function allSimulations(root: string): Promise<readonly ListedSimulation[]> {
  const folder = join(root, 'src/providers');
  return Promise.all(
    simulationIds(folder).map(async (id) => {
      const loaded = (await import(join(folder, id, 'fake/simulation.ts'))) as { default: Simulation };
      return { id, summary: loaded.default.summary, load: async () => loaded.default };
    }),
  );
}

/** Brings the files below that folder up to date and answers which were not. */
export async function generate(root: string, isCheck: boolean, below = ''): Promise<readonly string[]> {
  const outdated: string[] = [];
  for (const { file, render } of GENERATED.filter((one) => one.file.startsWith(below))) {
    const path = join(root, file);
    const wanted = await render(root);
    if (existsSync(path) && readFileSync(path, 'utf8') === wanted) continue;
    outdated.push(file);
    if (isCheck) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
  }
  return outdated;
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  const at = process.argv.indexOf('--below');
  const below = at < 0 ? '' : `${process.argv[at + 1]}/`;
  const outdated = await generate(dirname(import.meta.dirname), isCheck, below);
  for (const file of outdated) console.log(isCheck ? `out of date: ${file}` : `written: ${file}`);
  if (isCheck && outdated.length > 0) {
    console.error('Run "npm run gen" and commit what it writes.');
    process.exitCode = 1;
  }
}
