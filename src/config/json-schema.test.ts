import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonSchemaOf } from './json-schema.ts';
import { toSnake } from './keys.ts';
import { serverSchema } from './server-schema.ts';
import { standInKinds } from './testing.ts';

interface Json {
  readonly [key: string]: Json;
}
const schema = jsonSchemaOf(serverSchema(standInKinds)) as unknown as Json;
const at = (...path: readonly string[]): Json | undefined =>
  path.reduce((inner: Json | undefined, key) => inner?.[key], schema);
const pool = ['properties', 'agent_pools', 'items', 'properties'] as const;
const scaler = [...pool, 'auto_scaler', 'properties'] as const;

describe('jsonSchemaOf', () => {
  it('has every key in snake_case, and camelCase only beside it', () => {
    const keys: string[] = [];
    const gather = (inner: unknown): void => {
      if (typeof inner !== 'object' || inner === null) return;
      keys.push(...Object.keys((inner as { properties?: object }).properties ?? {}));
      for (const value of Object.values(inner)) gather(value);
    };
    gather(schema);

    expect(keys).toContain('default_slots_per_agent');
    expect(keys.filter((key) => /[A-Z]/.test(key) && !keys.includes(toSnake(key)))).toEqual([]);
  });

  it('marks unknown keys in every map that is not free', () => {
    expect(at('additionalProperties')).toBe(false);
    expect(at(...scaler, 'backend', 'additionalProperties')).toBe(false);
    expect(at(...scaler, 'backend', 'properties', 'aws_launch_template', 'additionalProperties')).toBe(false);
    expect(at(...pool, 'labels', 'additionalProperties')).toBeTypeOf('object');
  });

  it('names what is required, the defaults, and the bounds', () => {
    expect(at('properties', 'agent_pools', 'items', 'required')).toEqual(['name']);
    expect(at(...scaler, 'max_agents')).toMatchObject({ default: 0, minimum: 0, type: ['integer', 'string'] });
    expect(at(...scaler, 'max_agents')).not.toHaveProperty('maximum');
    expect(at(...scaler, 'sync_loop_interval')).toMatchObject({ default: '60s', type: ['string', 'number'] });
    expect(at(...scaler, 'backend')).toMatchObject({ minProperties: 1, maxProperties: 1 });
    expect(at(...scaler, 'mode', 'enum')).toEqual(expect.arrayContaining(['batch', 'MODE_BATCH', 2]));
  });

  it('lets variables stand where numbers are wanted', () => {
    const pattern = new RegExp(String(at(...scaler, 'max_agents', 'pattern')));

    expect(['$' + '{MAX}', '12'].every((text) => pattern.test(text))).toBe(true);
    expect(pattern.test('many')).toBe(false);
  });

  it('keeps our own notes to itself', () => {
    const file = jsonSchemaOf(z.object({ key: z.string().meta({ filePath: true }) }));
    const text = JSON.stringify([schema, file]);

    for (const note of ['secret', 'literal', 'sourceText', 'filePath', 'unused', 'noun', 'defaultText'])
      expect(text).not.toContain(`"${note}":`);
  });

  it('describes every key of the file itself', () => {
    const bare = Object.entries(at('properties') ?? {}).filter(([, value]) => !value.description && !value.$ref);

    expect(bare.map(([key]) => key)).toEqual([]);
  });
});
