import type { LabelValues, MetricObject, MetricValueWithName, Registry } from 'prom-client';
import type { Clock } from '#core/clock.ts';
import { openSlices } from '#core/slices.ts';

type Labels = LabelValues<string>;

interface Value extends MetricValueWithName<string> {
  /** The same object for all buckets of a histogram with these labels. */
  readonly sharedLabels?: Labels;
}

/** As the library reads a metric: a histogram has its buckets without copies of their labels, under a name of its own. */
interface Readable {
  get(): Promise<{ readonly values: readonly Value[] }>;
  getForPromString?(): Promise<{ readonly values: readonly Value[] }>;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };

// Most need no escape: a search costs less than a replacement.
const escaped = (text: string): string =>
  /[\\\n"]/.test(text) ? text.replaceAll(/[\\\n"]/g, (one) => ESCAPES[one] ?? one) : text;

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(String(value))}"`)
    .join(',');

function figure(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function openLines(name: string): (value: Value) => string {
  let lastShared: Labels | undefined;
  let shared = '';
  return ({ metricName = name, labels, sharedLabels, value }) => {
    if (sharedLabels !== lastShared) {
      lastShared = sharedLabels;
      shared = labelText(sharedLabels ?? {});
    }
    const own = labelText(labels);
    const text = own !== '' && shared !== '' ? `${own},${shared}` : own + shared;
    return `${metricName}${text === '' ? '' : `{${text}}`} ${figure(value)}`;
  };
}

const read = async (metric: MetricObject): Promise<readonly Value[]> => {
  const readable = metric as unknown as Readable;
  return (await (readable.getForPromString?.() ?? readable.get())).values;
};

/** The text of a scrape as `registry.metrics()` makes it, which would write tens of thousands of series in one turn. */
export async function scrapeText(registry: Registry, clock: Clock): Promise<string> {
  const slices = openSlices(clock);
  const lines: string[] = [];
  for (const metric of registry.getMetricsAsArray()) {
    const { name, help, type } = metric;
    if (lines.length > 0) lines.push('');
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    const lineOf = openLines(name);
    for (const value of await read(metric)) {
      lines.push(lineOf(value));
      if (slices.isOver()) await slices.next();
    }
  }
  return `${lines.join('\n')}\n`;
}
