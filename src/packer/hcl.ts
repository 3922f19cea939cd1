// Text in HCL2, as Packer reads it: blocks with their arguments.

import { hclText } from '#core/hcl-text.ts';

/** Part of the text as it stands: `var.mark`, or a string that Packer is to fill in. */
export interface Verbatim {
  readonly verbatim: string;
}

export type HclValue =
  | string
  | number
  | boolean
  | Verbatim
  | readonly HclValue[]
  | { readonly [key: string]: HclValue };

export interface Block {
  readonly type: string;
  readonly labels?: readonly string[];
  /** What is undefined is left out. */
  readonly values?: Readonly<Record<string, HclValue | undefined>>;
  readonly blocks?: readonly Block[];
}

/** Packer fills in `{{ .Path }}` there; nothing else in the text means anything to it. */
export const templated = (text: string): Verbatim => ({ verbatim: hclText(text) });

const isVerbatim = (value: HclValue): value is Verbatim =>
  typeof value === 'object' && !Array.isArray(value) && typeof (value as Verbatim).verbatim === 'string';

// The builders of Packer expand `{{` in every string, after HCL has read it.
const literal = (text: string): string => hclText(text.replaceAll('{{', '{{`{{`}}'));

function written(value: HclValue): string {
  if (isVerbatim(value)) return value.verbatim;
  if (typeof value === 'string') return literal(value);
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([key, one]) => `${literal(key)} = ${written(one)}`);
  return `{ ${entries.join(', ')} }`;
}

function lines({ type, labels = [], values = {}, blocks = [] }: Block, indent: string): string[] {
  const inner = `${indent}  `;
  const own = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [`${inner}${key} = ${written(value)}`],
  );
  const head = [type, ...labels.map((label) => `"${label}"`)].join(' ');
  return [`${indent}${head} {`, ...own, ...blocks.flatMap((block) => lines(block, inner)), `${indent}}`];
}

/** A whole file. */
export const blocksText = (blocks: readonly Block[]): string =>
  `${blocks.map((block) => lines(block, '').join('\n')).join('\n\n')}\n`;
