import { createHmac, timingSafeEqual } from 'node:crypto';

const PREFIX = 'mlt_';
// 32 bytes in base64url.
const SEAL_LENGTH = 43;

const sealOf = (root: Uint8Array, launch: string): string =>
  createHmac('sha256', root).update(`launch ${launch}`).digest('base64url');

/** The token of a launch: always the same for the same launch, so it need not be stored. */
export function launchToken(root: Uint8Array, launch: string): string {
  return `${PREFIX}${launch}_${sealOf(root, launch)}`;
}

/** The launch that a token was made for; undefined if it was not made with this root. */
export function verifyLaunchToken(root: Uint8Array, token: string): string | undefined {
  const sealAt = token.length - SEAL_LENGTH;
  if (!token.startsWith(PREFIX) || sealAt <= PREFIX.length || token[sealAt - 1] !== '_') return undefined;
  const launch = token.slice(PREFIX.length, sealAt - 1);
  const shown = Buffer.from(token.slice(sealAt), 'latin1');
  const right = Buffer.from(sealOf(root, launch), 'latin1');
  return launch !== '' && timingSafeEqual(shown, right) ? launch : undefined;
}
