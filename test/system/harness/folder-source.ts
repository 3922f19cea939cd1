// A source for tests, brought to the server as a plug-in: documents are files of a folder and of `more` below it, and the
// reports about them are lines of the file `reports`. A file `<key>.deleted` says that its writer has deleted the document
// and waits. While there is a file `hold-<replica>`, a report of that replica stops right before it takes effect, until `go`.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type Document, kind, type Provider, type Source } from '#core/provider.ts';

const FolderSourceConfig = z.strictObject({ folder: z.string(), replica: z.string() });

function openFolderSource({ folder, replica }: z.output<typeof FolderSourceConfig>): Source {
  const at = (name: string): string => join(folder, name);
  const filesIn = (place: string): string[] =>
    existsSync(place) ? readdirSync(place).map((name) => join(place, name)) : [];

  function read(file: string): Document {
    const key = basename(file, '.json');
    const isDeleted = existsSync(at(`${key}.deleted`));
    const version = `${statSync(file).mtimeMs} ${isDeleted}`;
    return { key, version, text: readFileSync(file, 'utf8'), ...(isDeleted && { isDeleted }) };
  }

  return {
    async documents() {
      return [...filesIn(folder), ...filesIn(at('more'))].filter((file) => file.endsWith('.json')).map(read);
    },
    async report(key, status) {
      if (existsSync(at(`hold-${replica}`))) {
        writeFileSync(at('asked'), key);
        execFileSync('sh', ['-c', 'while [ ! -e "$1" ]; do sleep 0.02; done', 'hold', at('go')]);
      }
      appendFileSync(at('reports'), `${replica} ${key} ${status === 'gone' ? status : status.phase}\n`);
      if (status !== 'gone') return;
      for (const file of [`${key}.json`, `more/${key}.json`, `${key}.deleted`]) rmSync(at(file), { force: true });
    },
  };
}

export default {
  id: 'folder-source',
  title: 'A source of files for tests',
  sources: {
    folderSource: kind({
      summary: 'Documents are files of a folder.',
      config: FolderSourceConfig,
      example: { folder: '/tmp/folder-source', replica: 'a' },
      trust: 'operator only',
      place: ({ folder }) => folder,
      open: async (config) => openFolderSource(config),
    }),
  },
} satisfies Provider;
