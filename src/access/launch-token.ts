import { createHmac, timingSafeEqual } from 'node:crypto';

const PREFIX = 'mlt_';
// 32 bytes in base64url.
const SEAL_LENGTH = 43;

const sealOf = (root: Uint8Array, launch: string): string =>
  createHmac('sha256', root).update(`launch ${launch}`).digest('base64url');

// An agent joins minutes after its launch, with the same seal: that of the newest launches is not computed twice.
const MOST_SEALS_KEPT = 1_000;
const keptSeals = new WeakMap<Uint8Array, Map<string, string>>();

function keepSeal(root: Uint8Array, launch: string, seal: string): void {
  const seals = keptSeals.get(root) ?? new Map<string, string>();
  keptSeals.set(root, seals.set(launch, seal));
  if (seals.size > MOST_SEALS_KEPT) seals.delete(seals.keys().next().value as string);
}

/** The token of a launch: always the same for the same launch, so it need not be stored. */
export function launchToken(root: Uint8Array, launch: string): string {
  const seal = sealOf(root, launch);
  keepSeal(root, launch, seal);
  return `${PREFIX}${launch}_${seal}`;
}

/** The launch that a token was made for; undefined if it was not made with this root. */
export function verifyLaunchToken(root: Uint8Array, token: string): string | undefined {
  const sealAt = token.length - SEAL_LENGTH;
  if (!token.startsWith(PREFIX) || sealAt <= PREFIX.length || token[sealAt - 1] !== '_') return undefined;
  const launch = token.slice(PREFIX.length, sealAt - 1);
  const shown = Buffer.from(token.slice(sealAt), 'latin1');
  const right = Buffer.from(keptSeals.get(root)?.get(launch) ?? sealOf(root, launch), 'latin1');
  return launch !== '' && timingSafeEqual(shown, right) ? launch : undefined;
}
