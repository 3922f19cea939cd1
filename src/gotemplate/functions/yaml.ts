import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { GoMap, GoSlice, mapOf, type Value } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { orElse } from './json.ts';
import { parseYaml } from './yaml-read.ts';
import { yamlText } from './yaml-write.ts';

/** What the text holds, or why it holds nothing. */
function valueOrMessage(text: string, budget: RenderBudget): { readonly value: Value; readonly message?: string } {
  try {
    return { value: parseYaml(text, budget) };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'invalid') return { value: undefined, message: thrown.message };
    throw thrown;
  }
}

/** Helm's functions for YAML. Where a text is none, the result holds the message: so do Helm's. */
export const yamlFunctions: Functions = {
  toYaml: fn(['any'], (value, { budget }) => orElse(() => yamlText(value, budget), '')),
  fromYaml: fn(['string'], (text, { budget }) => {
    const { value, message } = valueOrMessage(text, budget);
    if (value instanceof GoMap) return value;
    if (message === undefined && (value === null || value === undefined)) return mapOf([]);
    return mapOf([['Error', message ?? 'error unmarshaling JSON: the YAML is no map']]);
  }),
  fromYamlArray: fn(['string'], (text, { budget }) => {
    const { value, message } = valueOrMessage(text, budget);
    if (value instanceof GoSlice) return value;
    if (message === undefined && (value === null || value === undefined)) return new GoSlice([]);
    return new GoSlice([message ?? 'error unmarshaling JSON: the YAML is no list']);
  }),
};
