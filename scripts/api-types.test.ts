import { expect, test } from 'vitest';
import { renderApiTypes, schemaType } from './api-types.ts';

test('a schema becomes the type of what it takes', () => {
  const properties = { 'a-b': { type: 'string', description: 'Of b.' }, c: { type: ['string', 'number'] } };

  expect(schemaType({ properties, required: ['c'], additionalProperties: false })).toBe(
    '{\n  /** Of b. */\n  "a-b"?: string;\n  c: string | number;\n}',
  );
  expect(schemaType({ items: { enum: ['a', 1] } })).toBe('("a" | 1)[]');
  expect(schemaType({ items: { $ref: '#/components/schemas/Pool' } })).toBe("Schemas['Pool'][]");
  expect(schemaType({ additionalProperties: { type: 'integer' } })).toBe('{ [key: string]: number }');
  expect(schemaType({ anyOf: [{ type: 'string' }, { const: 'a' }, { type: 'string' }] })).toBe('string | "a"');
});

test('a keyword of JSON Schema that has no type here stops the generator', () => {
  expect(() => schemaType({ items: { oneOf: [{ type: 'string' }] } })).toThrow('keyword oneOf');
});

test('the types have no path that changes to WebSocket', async () => {
  const types = await renderApiTypes();

  expect(types).toContain('"/api/v1/sessions/{session}/output": {');
  expect(types).not.toContain('"/api/v1/sessions/{session}/attach": {');
});
