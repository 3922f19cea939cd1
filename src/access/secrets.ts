import type { Clock } from '#core/clock.ts';
import type { Random } from '#core/random.ts';
import { type Change, put, type Store } from '#core/store.ts';
import { type KeyPair, newAuthority } from './tls.ts';

/** The secrets from which tokens and certificates are derived. */
export interface Secrets {
  readonly launchRoot: Uint8Array;
  readonly authority: KeyPair;
}

const LAUNCH_ROOT = 'launch-root';
const CA_KEY = 'ca-key';
const CA_CERTIFICATE = 'ca-certificate';

/** The secrets of this cluster, created at its first start and durable before they are used. */
export async function openSecrets(store: Store, clock: Clock, random: Random): Promise<Secrets> {
  const changes: Change[] = [];
  const held = (id: string): string | undefined => store.view.secrets.get(id)?.value;
  const keep = (id: string, value: string): string => {
    changes.push(put('secrets', { id, value }));
    return value;
  };
  const root = held(LAUNCH_ROOT) ?? keep(LAUNCH_ROOT, Buffer.from(random.bytes(32)).toString('base64'));
  let key = held(CA_KEY);
  let certificate = held(CA_CERTIFICATE);
  if (key === undefined || certificate === undefined) {
    const made = newAuthority({ clock, random });
    key = keep(CA_KEY, made.key);
    certificate = keep(CA_CERTIFICATE, made.certificate);
  }
  if (changes.length > 0) await store.commit(changes);
  return { launchRoot: Buffer.from(root, 'base64'), authority: { key, certificate } };
}
