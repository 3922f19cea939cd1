import { Fault } from 'muster/src/core/fault.ts';
import type { Context, Document, Source } from 'muster/src/core/provider.ts';
import type { PoolsConfig } from './config.ts';
import { depotAt, everyPage } from './depot-api.ts';

/** A document as the depot lists it; its text is fetched apart. */
interface Listed {
  readonly name: string;
  readonly revision: number;
}

export async function openSource(config: PoolsConfig, context: Context): Promise<Source> {
  const ask = depotAt(config, context);

  async function read({ name, revision }: Listed, signal: AbortSignal): Promise<Document> {
    const version = String(revision);
    try {
      const { text } = (await ask({ path: `/pools/${encodeURIComponent(name)}`, signal })) as { text: string };
      return { key: name, version, text };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      // The depot is away: then nothing is known of the others either.
      if (fault.kind === 'unavailable') throw fault;
      return { key: name, version: `unread:${version}`, fault };
    }
  }

  return {
    async documents(held, signal) {
      const documents: Document[] = [];
      for (const listed of await everyPage<Listed>(ask, '/pools', signal)) {
        const { name: key, revision } = listed;
        const isHeld = held.get(key) === String(revision);
        documents.push(isHeld ? { key, version: String(revision) } : await read(listed, signal));
      }
      return documents;
    },
  };
}
