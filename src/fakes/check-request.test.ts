import { describe, expect, it } from 'vitest';
import { fieldPath, openRequestCheck, type RequestDefinition } from './check-request.ts';

const definition: RequestDefinition = {
  methods: {
    list: { query: { page: { type: 'integer' }, isFull: { type: 'boolean' }, version: {} }, required: ['version'] },
    create: { query: {}, body: { $ref: '#/$defs/Machine' } },
  },
  $defs: {
    Machine: {
      type: 'object',
      properties: {
        name: { type: 'string', pattern: '^[a-z]+$' },
        mode: { enum: ['SPOT', 'STANDARD'] },
        disks: { type: 'array', items: { $ref: '#/$defs/Disk' } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        // As Google writes numbers of 64 bits.
        bytes: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^[0-9]+$' }] },
        parent: { $ref: '#/$defs/Machine' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    Disk: { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false },
  },
};
const check = openRequestCheck(definition);

describe('the check of a request against the definition of a cloud', () => {
  const creation = (body: unknown) =>
    check('create', { query: {}, body }).map(({ at, kind, path, expected }) => [at, kind, fieldPath(path), expected]);
  const listing = (query: Record<string, string>) =>
    check('list', { query }).map(({ kind, path, received, expected }) => [kind, path[0], received, expected]);

  it.each([
    ['a whole body', { name: 'a', mode: 'SPOT', labels: { b: 'c' }, bytes: '12', parent: { name: 'd' } }, []],
    ['an unknown field', { name: 'a', nmae: 1 }, [['body', 'unknown', 'nmae', undefined]]],
    ['one deep inside', { name: 'a', disks: [{}, { sise: 1 }] }, [['body', 'unknown', 'disks[1].sise', undefined]]],
    ['a missing field', { mode: 'SPOT' }, [['body', 'missing', 'name', undefined]]],
    ['a wrong type', { name: 'a', disks: [{ size: 'x' }] }, [['body', 'type', 'disks[0].size', 'number']]],
    ['a map of wrong values', { name: 'a', labels: { b: 1 } }, [['body', 'type', 'labels.b', 'string']]],
    ['no value of an enumeration', { name: 'a', mode: 'X' }, [['body', 'value', 'mode', ['SPOT', 'STANDARD']]]],
    ['a name of the wrong form', { name: 'A' }, [['body', 'value', 'name', '^[a-z]+$']]],
    ['a definition that refers to itself', { name: 'a', parent: {} }, [['body', 'missing', 'parent.name', undefined]]],
    ['no body', undefined, [['body', 'missing', '', undefined]]],
  ])('says of %s what is wrong with it', (_what, body, flaws) => {
    expect(creation(body)).toEqual(flaws);
  });

  it.each([
    ['right parameters', { page: '2', isFull: 'true', version: '1' }, []],
    ['an unknown one', { version: '1', pgae: '2' }, [['unknown', 'pgae', '2', undefined]]],
    ['one that is left out', {}, [['missing', 'version', undefined, undefined]]],
    ['text for a number', { version: '1', page: 'two' }, [['type', 'page', 'two', 'integer']]],
    ['text for a boolean', { version: '1', isFull: 'yes' }, [['type', 'isFull', 'yes', 'boolean']]],
  ])('reads the text of a query as its types: %s', (_what, query, flaws) => {
    expect(listing(query as Record<string, string>)).toEqual(flaws);
  });

  it('finds nothing in actions that the definition does not have', () => {
    expect(check('other', { query: { any: 'thing' } })).toEqual([]);
  });
});
