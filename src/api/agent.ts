import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';

// A plain file name; what is not in the list of agent files is refused anyway.
const FileName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, { error: 'Must be a plain file name.' });

/** Outside of `/api/v1`: what a new machine fetches before it has anything to show. */
function agentRoutes({ agentFiles }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/agent/install.sh',
      role: 'anyone',
      summary: 'A shell script that installs the agent from this server.',
      reply: z.custom<Raw>(),
      media: ['text/x-shellscript'],
      handle: ({ origin }) => agentFiles.installScript(origin),
    }),
    route({
      method: 'GET',
      path: '/agent/:file',
      role: 'anyone',
      summary: 'An agent with its runtime; `FILE.sha256` is its checksum.',
      params: z.object({ file: FileName }),
      reply: z.custom<Raw>(),
      media: ['application/octet-stream'],
      async handle({ params, header }) {
        const name = params.file.replace(/\.sha256$/, '');
        const file = await agentFiles.find(name);
        if (!file) throw new Fault('missing', `There is no agent file ${params.file}.`, { at: 'path.file' });
        if (params.file !== name) {
          header('content-type', 'text/plain');
          return `${file.sha256}  ${name}\n`;
        }
        header('content-type', file.mediaType);
        header('content-length', String(file.bytes));
        header('etag', `"${file.sha256}"`);
        header('x-checksum-sha256', file.sha256);
        return file.open();
      },
    }),
  ];
}

export const noun: Noun = { tag: 'agents', order: 150, rootRoutes: agentRoutes };
