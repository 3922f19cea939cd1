import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isAtLeast } from '#access/tokens.ts';
import { type KnownKinds, knownKinds } from '#config/kinds.ts';
import { redact } from '#config/redact.ts';
import { mustReadBack, refusedElsewhere, wholeDocument, writePool } from '#config/write-pool.ts';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { Provider } from '#core/provider.ts';
import type { ApiDeps } from '../api/deps.ts';
import { providers } from '../providers/providers.gen.ts';
import { features } from './features.gen.ts';
import { sectionsOf } from './features.ts';

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && typeof (value as Provider).id === 'string';
}

async function loadPlugin(name: string): Promise<Provider> {
  const specifier = isAbsolute(name) || name.startsWith('.') ? pathToFileURL(name).href : name;
  const remedy = 'Install the package beside Muster, or correct its name under `plugins:` or after `--plugin`.';
  const module = await import(specifier).catch((cause: Error) => {
    throw new Fault('invalid', `The plug-in ${name} cannot be loaded: ${cause.message}`, { cause, remedy });
  });
  if (isProvider(module.default)) return module.default;
  throw new Fault('invalid', `The plug-in ${name} has no provider as its default export.`, {
    remedy: 'Export a Provider, as src/core/provider.ts describes it.',
  });
}

/** Every kind that this server knows: its own, and those of the packages that the configuration names. */
export async function loadKinds(plugins: readonly string[]): Promise<KnownKinds> {
  return knownKinds([...providers, ...(await Promise.all(plugins.map(loadPlugin)))], sectionsOf(features));
}

/** Definitions as documents; viewers get no scripts. */
export function poolDocuments({ backends: kinds }: KnownKinds): ApiDeps['documents'] {
  return {
    write: (spec, role) => writePool(spec, { kinds, hidesScripts: !isAtLeast(role, 'operator') }),
    check: (spec) => mustReadBack(spec, kinds),
    refusedElsewhere: (spec) => refusedElsewhere(spec, kinds),
    whole: (spec) => wholeDocument(spec, kinds),
  };
}

type Tree = Readonly<Record<string, unknown>>;

/** A backend's configuration as it may be shown; viewers see no scripts. */
export function redactBackendConfig(kinds: KnownKinds) {
  return (kind: string, config: Tree, role: Role): Tree => {
    const known = kinds.backends[kind];
    return known ? (redact(known.config, config, { hidesScripts: !isAtLeast(role, 'operator') }) as Tree) : {};
  };
}
