import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import type { SourceDeps } from '../credentials/source.ts';
import { openStoreApi } from './api.ts';
import { type AppConfigurationConfig, prefixOf } from './config.ts';
import { type KeyValue, openKeyValues } from './key-values.ts';

// Feature flags and the like stand among the keys of a store, and are nobody's documents.
const OF_THE_SERVICE = /^\.appconfig\./;
const KEY_VAULT = /^application\/vnd\.microsoft\.appconfig\.keyvaultref\+json/i;

/** A reference to a secret stands where the document should: its text is in Key Vault, which the source does not read. */
function referenceFault(key: string): Fault {
  return new Fault('unsupported', `The key ${key} refers to a secret of Key Vault.`, {
    remedy: 'Store the document itself as the value; keep secrets out of it.',
  });
}

/** Whether it can be a document: keys without a value and keys that end in `/` are made as folders. */
const isDocument = ({ key, value }: KeyValue): boolean =>
  !key.endsWith('/') && !OF_THE_SERVICE.test(key) && value !== null && value !== '';

function documentOf({ key, etag: version, value, contentType }: KeyValue, isHeld: boolean): Document {
  if (KEY_VAULT.test(contentType ?? '')) return { key, version, fault: referenceFault(key) };
  return isHeld ? { key, version } : { key, version, text: value ?? '' };
}

/** The key-values below a prefix of an App Configuration store, each one a document. */
export async function openAppConfiguration(
  config: AppConfigurationConfig,
  context: Context,
  own?: Partial<SourceDeps>,
): Promise<Source> {
  const api = openStoreApi(config, context, own);
  const { label } = config;
  const filter = { prefix: prefixOf(config), label, isWanted: isDocument };
  const keyValues = openKeyValues({ api, clock: context.clock }, filter);
  return {
    async documents(held, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
      const isHeld = ({ key, etag }: KeyValue): boolean => held.get(key) === etag;
      const items = await keyValues.list(isHeld, signal);
      return items.map((item) => documentOf(item, isHeld(item)));
    },
    close: async () => api.close(),
  };
}
