import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Figure } from './bench.ts';
import { isMet, MEASURES, type Measure, ratioOf, targetOf } from './measures.ts';
import type { Measured } from './yardsticks.ts';

const GIGABYTE = 2 ** 30;

/** What the figures were taken on, and how busy it was. */
export function describeMachine(): string {
  const load = loadavg().map((value) => value.toFixed(1));
  const memory = `${Math.round(totalmem() / GIGABYTE)} GB`;
  return `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${memory}, Node ${process.version}, load ${load.join(' ')}`;
}

function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

const WIDTHS = [30, 10, 12, 12, 12, 6, 4] as const;

const columns = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(' ');

export const heading = (): string =>
  `${columns(['measure', 'variant', 'value', 'design', 'target', 'ratio', 'ok'])}  what`;

/** Beside the value: the target of the design, the same for this machine as it is now, and how far the value is from that. */
export function tableLine({ name, variant = '', value, note }: Figure, measured: Measured = {}): string {
  const { unit, what, atMost }: Measure = MEASURES[name];
  const sign = atMost === undefined ? '≥' : '≤';
  const shown = (target: number | undefined): string =>
    target === undefined ? '' : `${sign} ${rounded(target)} ${unit}`;
  const ratio = ratioOf(name, value, measured);
  const ok = isMet(name, value, measured);
  const verdict = ok === undefined ? '' : ok ? 'yes' : 'NO';
  const text = note === undefined ? what : `${what} (${note})`;
  const judged = [shown(targetOf(name)), shown(targetOf(name, measured)), ratio === undefined ? '' : ratio.toFixed(2)];
  return `${columns([name, variant, `${rounded(value)} ${unit}`, ...judged, verdict])}  ${text}`;
}

/** One object a line, for programs. */
export function jsonLine({ name, variant, value, note }: Figure, measured: Measured = {}): string {
  return JSON.stringify({
    name: variant === undefined ? name : `${name}/${variant}`,
    value,
    unit: MEASURES[name].unit,
    design: targetOf(name) ?? null,
    target: targetOf(name, measured) ?? null,
    ratio: ratioOf(name, value, measured) ?? null,
    ok: isMet(name, value, measured) ?? null,
    ...(note !== undefined && { note }),
  });
}
