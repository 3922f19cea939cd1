import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';
import type { Clock } from '#core/clock.ts';
import { inSlices } from '#core/slices.ts';

type Value = MetricValueWithName<string>;

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };

// Most need no escape: a search costs less than a replacement.
const escaped = (text: string): string =>
  /[\\\n"]/.test(text) ? text.replaceAll(/[\\\n"]/g, (one) => ESCAPES[one] ?? one) : text;

function figure(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function line(name: string, { metricName = name, labels, value }: Value): string {
  let text = '';
  for (const [label, given] of Object.entries(labels)) {
    if (given !== undefined) text += `${text === '' ? '{' : ','}${label}="${escaped(String(given))}"`;
  }
  return `${metricName}${text === '' ? '' : `${text}}`} ${figure(value)}`;
}

/** The text of a scrape as `registry.metrics()` makes it, in slices: that would write tens of thousands of series in one turn. */
export async function scrapeText(registry: Registry, clock: Clock): Promise<string> {
  const lines: string[] = [];
  for (const metric of registry.getMetricsAsArray()) {
    const got: MetricObjectWithValues<Value> = await (metric as unknown as Metric).get();
    if (lines.length > 0) lines.push('');
    lines.push(`# HELP ${got.name} ${got.help}`, `# TYPE ${got.name} ${got.type}`);
    await inSlices(clock, got.values, (value) => void lines.push(line(got.name, value)));
  }
  return `${lines.join('\n')}\n`;
}
