// The chart as `helm template` renders it, by our own Go templates: helm itself is not needed.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { parseTemplates } from '#gotemplate/template-set.ts';
import type { Manifest } from './manifest.ts';

type Tree = Readonly<Record<string, unknown>>;

export const CHART_FOLDER = join(import.meta.dirname, '../../../../deploy/helm/muster');
/** Where `renderChart` installs it, as `--namespace` of helm. */
export const CHART_NAMESPACE = 'velda';

/** The Kubernetes that it is rendered for where none is named. */
export const CHART_KUBE_VERSION = '1.30.0';

export const chartFile = (path: string): string => readFileSync(join(CHART_FOLDER, path), 'utf8');

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** As helm lays given values over those of the chart: maps by key, everything else whole; null leaves a key out. */
function laidOver(below: unknown, above: unknown): unknown {
  if (!isTree(below) || !isTree(above)) return above;
  const merged = Object.entries(above).map(([key, value]) => [key, laidOver(below[key], value)]);
  const all = Object.entries({ ...below, ...Object.fromEntries(merged) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** As `--set-json key=value` reads its key: a path. */
function atPath(path: string, value: unknown): unknown {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** The objects that the chart gives for values by their paths (`postgres.secret`), or a fault that says what is refused. */
export function renderChart(given: Tree = {}, kubeVersion = CHART_KUBE_VERSION): Manifest[] {
  let values: unknown = parse(chartFile('values.yaml'));
  for (const [path, value] of Object.entries(given)) values = laidOver(values, atPath(path, value));
  const checked = z.fromJSONSchema(JSON.parse(chartFile('values.schema.json'))).safeParse(values);
  if (!checked.success) throw new Fault('invalid', z.prettifyError(checked.error));
  const { name, version, appVersion } = parse(chartFile('Chart.yaml')) as Record<string, string>;
  const paths = (pattern: string): string[] => globSync(pattern, { cwd: CHART_FOLDER }).toSorted();
  const data = {
    Values: values as object,
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    // As with `--kube-version` of helm.
    Capabilities: { KubeVersion: { Version: `v${kubeVersion}` } },
    Release: { Name: 'muster', Namespace: CHART_NAMESPACE, Service: 'Helm' },
    Files: Object.fromEntries(paths('files/*').map((path) => [path, chartFile(path)])),
  };
  // `.Files.Get` is a method of helm's; our templates have data alone.
  const texts = paths('templates/*').map((path) => ({
    name: path,
    text: chartFile(path).replaceAll('.Files.Get', 'get .Files'),
  }));
  const set = parseTemplates(texts, { numbers: 'float64' });
  return texts
    .filter(({ name: path }) => path.endsWith('.yaml'))
    .flatMap(({ name: path }) => parseAllDocuments(set.render(path, data)))
    .flatMap((document) => (document.contents === null ? [] : [document.toJS() as Manifest]));
}
