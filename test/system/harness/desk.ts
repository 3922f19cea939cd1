// A source for tests, brought to the server as a plug-in: documents are files of a folder, and the reports about them are
// lines of the file `reports`. A file `<key>.deleted` beside a document says that its writer has deleted it and waits.
// While there is a file `hold-<replica>`, that replica stops between reading a listing and handing it on, until `go`.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Document, kind, type Provider, type Source } from '#core/provider.ts';

const DeskConfig = z.strictObject({ folder: z.string(), replica: z.string() });

function openDesk({ folder, replica }: z.output<typeof DeskConfig>): Source {
  const at = (name: string): string => join(folder, name);

  function read(file: string): Document {
    const key = file.replace(/\.json$/, '');
    const isDeleted = existsSync(at(`${key}.deleted`));
    const version = `${statSync(at(file)).mtimeMs} ${isDeleted}`;
    return { key, version, text: readFileSync(at(file), 'utf8'), ...(isDeleted && { isDeleted }) };
  }

  return {
    async documents() {
      const documents = readdirSync(folder)
        .filter((file) => file.endsWith('.json'))
        .map(read);
      if (!existsSync(at(`hold-${replica}`))) return documents;
      writeFileSync(at('asked'), documents.map(({ key }) => key).join(' '));
      execFileSync('sh', ['-c', 'while [ ! -e "$1" ]; do sleep 0.02; done', 'hold', at('go')]);
      return documents;
    },
    async report(key, status) {
      appendFileSync(at('reports'), `${replica} ${key} ${status === 'gone' ? status : status.phase}\n`);
      if (status !== 'gone') return;
      for (const file of [`${key}.json`, `${key}.deleted`]) rmSync(at(file), { force: true });
    },
  };
}

export default {
  id: 'desk',
  title: 'A desk for tests',
  sources: {
    desk: kind({
      summary: 'Documents are files of a folder.',
      config: DeskConfig,
      example: { folder: '/tmp/desk', replica: 'a' },
      trust: 'operator only',
      place: ({ folder }) => folder,
      open: async (config) => openDesk(config),
    }),
  },
} satisfies Provider;
