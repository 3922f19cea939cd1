// What editors check files with while people write them.
import { jsonSchemaOf } from './json-schema.ts';
import type { KnownKinds } from './kinds.ts';
import { poolSchema } from './pool-schema.ts';
import { serverSchema } from './server-schema.ts';

type EditedFile = 'server' | 'pool';

const TITLES: Readonly<Record<EditedFile, string>> = {
  server: 'The configuration file of Muster',
  pool: 'A pool document of Muster',
};

/** The JSON schema of a file, as text. That of pool documents has every kind: a `trusted` source may name them all. */
export function editorSchema(file: EditedFile, kinds: KnownKinds): string {
  const schema = file === 'server' ? serverSchema(kinds) : poolSchema(kinds.backends, 'operator');
  const { $schema, ...rest } = jsonSchemaOf(schema);
  return `${JSON.stringify({ $schema, $id: `urn:muster:schema:${file}`, title: TITLES[file], ...rest }, null, 2)}\n`;
}
