// Resources of Terraform, formatted as `terraform fmt` leaves them.
import { hclText } from '#core/hcl-text.ts';
import type { Exported, Render } from './document.ts';
import { sourceNotes } from './document.ts';
import { isAdvanced, parameterName } from './shell.ts';

// `for` begins an expression, and the others are values.
const WORDS = new Set(['for', 'true', 'false', 'null', 'if', 'in']);
const isBare = (key: string): boolean => /^[A-Za-z_][\w-]*$/.test(key) && !WORDS.has(key);

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function hclValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return hclText(value);
  if (Array.isArray(value)) return hclList(value, indent);
  return isMap(value) ? hclMap(value, indent) : JSON.stringify(value);
}

function hclList(items: readonly unknown[], indent: string): string {
  const isFlat = items.every((item) => typeof item !== 'object');
  if (isFlat) return `[${items.map((item) => hclValue(item, '')).join(', ')}]`;
  const inner = `${indent}  `;
  return `[\n${items.map((item) => `${inner}${hclValue(item, inner)},\n`).join('')}${indent}]`;
}

function hclMap(map: Readonly<Record<string, unknown>>, indent: string): string {
  const entries = Object.entries(map);
  if (entries.length === 0) return '{}';
  const inner = `${indent}  `;
  const made = entries.map(([key, value]) => [isBare(key) ? key : hclText(key), hclValue(value, inner)] as const);
  return `{\n${aligned(made, inner)}${indent}}`;
}

/** Neighbours that take one line each have their signs below each other; a longer one begins anew. */
export function aligned(entries: readonly (readonly [string, string])[], indent: string): string {
  const runs: (readonly [string, string])[][] = [];
  let isRun = false;
  for (const entry of entries) {
    const isShort = !entry[1].includes('\n');
    if (isShort && isRun) runs.at(-1)?.push(entry);
    else runs.push([entry]);
    isRun = isShort;
  }
  return runs
    .map((run) => {
      const widest = Math.max(...run.map(([key]) => [...key].length));
      return run.map(([key, value]) => `${indent}${key.padEnd(widest)} = ${value}\n`).join('');
    })
    .join('');
}

/** Two pools whose names differ only in signs must not become one resource. */
export function resourceName({ name }: Pick<Exported, 'name'>): string {
  const isPlain = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name);
  if (isPlain) return name.replaceAll('-', '_');
  const code = [...name].map((letter) =>
    /[A-Za-z0-9]/.test(letter) ? letter : `_${letter.codePointAt(0)?.toString(16)}_`,
  );
  return `pool_${code.join('')}`;
}

export const renderTerraform: Render = (pool, { prefix }) => {
  const tier = isAdvanced(pool, JSON.stringify(pool.document)) ? [['tier', '"Advanced"'] as const] : [];
  const arguments_ = [
    ['name', hclText(parameterName(pool, prefix))] as const,
    ['type', '"String"'] as const,
    ...tier,
    ['value', `jsonencode(${hclMap(pool.document, '  ')})`] as const,
  ];
  const head = `resource "aws_ssm_parameter" ${hclText(resourceName(pool))}`;
  return `${sourceNotes(pool)}${head} {\n${aligned(arguments_, '  ')}}\n`;
};
