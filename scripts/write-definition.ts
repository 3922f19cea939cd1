// Writes the definition that a fake checks its requests with.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestDefinition } from '#fakes/check-request.ts';

export interface Origin {
  /** The provider whose fake it is for. */
  readonly provider: string;
  /** The published package or repository, with its version. */
  readonly from: string;
  /** The command that writes it again. */
  readonly command: string;
}

/** Writes `definition.gen.ts` of the provider's fake, one method or type a line. */
export function writeDefinition({ provider, from, command }: Origin, { methods, $defs }: RequestDefinition): void {
  const linesOf = (entries: object): string =>
    Object.entries(entries)
      .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
      .join('');
  const text = [
    `// Generated from ${from} by \`${command}\`. Do not edit.`,
    "import type { RequestDefinition } from '#fakes/check-request.ts';",
    '',
    'export const definition: RequestDefinition = {',
    `  methods: {\n${linesOf(methods)}  },`,
    `  $defs: {\n${linesOf($defs)}  },`,
    '};',
    '',
  ].join('\n');
  const path = join(import.meta.dirname, '..', 'src', 'providers', provider, 'fake', 'definition.gen.ts');
  writeFileSync(path, text);
}

/** The names of the types that a schema refers to. */
export function referredBy(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(referredBy);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' ? [String(value).replace('#/$defs/', '')] : referredBy(value),
  );
}

/** The types that the methods need, directly or through others. */
export function neededDefs(
  methods: RequestDefinition['methods'],
  defOf: (name: string) => object,
): Record<string, object> {
  const defs: Record<string, object> = {};
  const pending = referredBy(Object.values(methods));
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name in defs) continue;
    defs[name] = defOf(name);
    pending.push(...referredBy(defs[name]));
  }
  return defs;
}
