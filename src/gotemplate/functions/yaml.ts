import { parseDocument } from 'yaml';
import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { goValue } from '../value/data.ts';
import { GoMap, GoSlice, mapOf, type Value } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { orElse } from './json.ts';
import { yamlText } from './yaml-write.ts';

function parseYaml(text: string, budget: RenderBudget): Value {
  // Reading a character of YAML takes as long as two actions; beginning to, as a dozen.
  budget.step(12 + text.length * 2);
  const document = parseDocument(text, { version: '1.1', merge: true, uniqueKeys: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw new Fault('invalid', `error converting YAML to JSON: ${error.message}`);
  try {
    // By JSON, as in Helm: every number is a float64, every key a string.
    return goValue(JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null)) as object, 'float64');
  } catch (thrown) {
    throw new Fault('invalid', `error converting YAML to JSON: ${Fault.from(thrown).message}`);
  }
}

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
