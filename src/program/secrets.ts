// Every secret of a configured kind is known to the redactor before any text about that kind is written.
import { readFileSync } from 'node:fs';
import type { Chosen, KnownKinds } from '#config/kinds.ts';
import { hasSecrets, redact } from '#config/redact.ts';
import type { ServerConfig } from '#config/server-file.ts';
import type { Clock } from '#core/clock.ts';
import type { PoolSpec } from '#core/pool.ts';
import type { Kinds } from '#core/provider.ts';
import { inSlices } from '#core/slices.ts';
import type { Store } from '#core/store.ts';
import { isSecretName, type Redactor } from '#journal/redact.ts';

function learnChosen<I>(redactor: Redactor, kinds: Kinds<I>, { kind, config }: Chosen): void {
  const schema = kinds[kind]?.config;
  if (!schema || !hasSecrets(schema)) return;
  redact(schema, config, {
    found(value, isSecret, key) {
      // Environment variables are hidden where they are shown, but `production` is no secret in other texts.
      if (isSecret || isSecretName(key)) redactor.learn(value);
    },
  });
}

/** Those of a pool's offers. */
export function learnPool(redactor: Redactor, { backends }: KnownKinds, { offers }: PoolSpec): void {
  for (const offer of offers) learnChosen(redactor, backends, offer);
}

/** Those of the operator's file: its own, and those of every source and pool in it; ten thousand pools take a while. */
export async function learnConfig(
  redactor: Redactor,
  kinds: KnownKinds,
  { config, clock }: { readonly config: ServerConfig; readonly clock: Clock },
): Promise<void> {
  if (config.store.kind === 'postgres') redactor.learn(config.store.url);
  if (config.tls.key !== undefined) redactor.learn(readFileSync(config.tls.key, 'utf8'));
  for (const source of config.sources) learnChosen(redactor, kinds.sources, source);
  for (const cluster of Object.values(config.clusters)) learnChosen(redactor, kinds.clusters ?? {}, cluster);
  await inSlices(clock, config.pools, ({ spec }) => learnPool(redactor, kinds, spec));
}

/** Those of definitions and offers that an earlier process has stored. */
export async function learnStored(
  redactor: Redactor,
  kinds: KnownKinds,
  { store, clock }: { readonly store: Pick<Store, 'view'>; readonly clock: Clock },
): Promise<void> {
  await inSlices(clock, store.view.offers.all(), (offer) => learnChosen(redactor, kinds.backends, offer));
  await inSlices(clock, store.view.pools.all(), ({ spec }) => learnPool(redactor, kinds, spec));
}
