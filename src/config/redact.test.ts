import { expect, it } from 'vitest';
import { z } from 'zod';
import { environmentMap, freeMap, script, secret } from '#core/schema.ts';
import { HIDDEN, redact } from './redact.ts';

const schema = z.object({
  apiToken: secret().optional(),
  keys: z.array(z.object({ sshKey: secret(), name: z.string() })).default([]),
  tokens: z.record(z.string(), secret()).optional(),
  either: z.union([z.string(), z.object({ password: secret() })]).optional(),
  store: secret()
    .transform((url) => ({ kind: 'postgres', url }))
    .optional(),
  tags: freeMap().prefault({}),
  env: environmentMap().optional(),
});

it('hides every secret that the schema knows, at every depth, and names each of them with its key', () => {
  const value = schema.parse({
    apiToken: 'one',
    keys: [{ sshKey: 'two', name: 'a' }],
    tokens: { x: 'three' },
    either: { password: 'four' },
    store: 'five',
    tags: { apiToken: 'harmless' },
    env: { HF_TOKEN: 'six' },
  });
  const secrets: string[] = [];

  const found = (text: string, isSecret: boolean, key: string) => secrets.push(`${key}: ${text}${isSecret ? '' : '?'}`);
  const shown = redact(schema, value, { found });

  expect(shown).toEqual({
    apiToken: HIDDEN,
    keys: [{ sshKey: HIDDEN, name: 'a' }],
    tokens: { x: HIDDEN },
    either: { password: HIDDEN },
    store: HIDDEN,
    tags: { apiToken: 'harmless' },
    env: { HF_TOKEN: HIDDEN },
  });
  expect(secrets).toEqual([
    'apiToken: one',
    'sshKey: two',
    'x: three',
    'password: four',
    'store: postgres',
    'store: five',
    'HF_TOKEN: six?',
  ]);
});

it('leaves what is absent absent, and the value itself untouched', () => {
  const value = schema.parse({});

  expect(redact(schema, value)).toEqual({ keys: [], tags: {} });
  expect(value).toEqual({ keys: [], tags: {} });
});

it('hides scripts where it is asked to, as they may hold secrets that no schema knows; they are no secrets by themselves', () => {
  const scripted = z.object({ start: script(), slots: z.int() });
  const value = { start: 'curl -H "token: abc"', slots: 2 };
  const secrets: string[] = [];

  const shown = redact(scripted, value, { hidesScripts: true, found: (secret) => secrets.push(secret) });

  expect(shown).toEqual({ start: HIDDEN, slots: 2 });
  expect(redact(scripted, value)).toEqual(value);
  expect(secrets).toEqual([]);
});
