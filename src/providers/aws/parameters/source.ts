import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { inPages } from '#rest/retry.ts';
import { type Service, type SsmCalls, ssmAt } from '../client.ts';
import { type ParametersConfig, pathOf } from './config.ts';
import { isAboutKey, openSecret, type Reading, takeParameter } from './parameter.ts';

// As many as a page may hold.
const PAGE = 10;

/** The parameters below a path, each one a document. */
export async function openParameters(config: ParametersConfig, context: Context): Promise<Source> {
  const path = pathOf(config);
  /** A secret could not be decrypted last time: then all are listed encrypted from the start. */
  let hasBadSecret = false;

  async function readAll(ssm: Service<SsmCalls>, isSealed: boolean, reading: Reading): Promise<readonly Document[]> {
    const { documents, signal } = reading;
    const input = { Path: path, Recursive: true, MaxResults: PAGE, WithDecryption: !isSealed };
    await inPages(context.clock, signal, async (token) => {
      const page = await ssm.ask('GetParametersByPath', { ...input, ...(token ? { NextToken: token } : {}) }, reading);
      if (!page.Parameters)
        throw new Fault('unavailable', 'Parameter Store answered a listing without a list of parameters.');
      for (const parameter of page.Parameters) {
        if (isSealed && parameter.Type === 'SecureString') await openSecret(ssm, parameter, reading);
        else takeParameter(parameter, reading);
      }
      return page.NextToken;
    });
    return documents;
  }

  /** One secret that cannot be decrypted fails its whole page, and a page token is valid only with the same WithDecryption. */
  async function read(ssm: Service<SsmCalls>, asked: Omit<Reading, 'documents'>): Promise<readonly Document[]> {
    if (!hasBadSecret) {
      try {
        return await readAll(ssm, false, { ...asked, documents: [] });
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (!isAboutKey(fault)) throw fault;
      }
    }
    const documents = await readAll(ssm, true, { ...asked, documents: [] });
    hasBadSecret = documents.some(({ fault }) => fault !== undefined);
    return documents;
  }

  return {
    async documents(held, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      // Opened here, so that a server starts without it, and finds what was missing as soon as it is there.
      const ssm = await ssmAt(context, { region: config.region, endpoint: config.endpoint });
      return read(ssm, { held, signal });
    },
  };
}
