import type { HeldFiles } from '#core/file.ts';
import type { SessionSpec } from '#core/session.ts';
import type { SessionsDeps } from './deps.ts';
import type { SessionRequest } from './sessions.ts';

/** The checked manifests of requests, kept from deletion until they are released. */
export type HeldManifests = ReadonlyMap<string, HeldFiles>;

const keyOf = ({ manifest, token }: NonNullable<SessionRequest['files']>): string => `${manifest} ${token}`;

export const releaseFiles = (held: HeldManifests): void => {
  for (const files of held.values()) files.release();
};

/** Each manifest once: many sessions may have the same. */
export async function holdFiles(
  files: SessionsDeps['files'],
  requests: readonly SessionRequest[],
): Promise<HeldManifests> {
  const held = new Map<string, HeldFiles>();
  try {
    for (const { files: asked } of requests) {
      if (asked && !held.has(keyOf(asked))) held.set(keyOf(asked), await files.hold(asked.manifest, asked.token));
    }
    return held;
  } catch (thrown) {
    releaseFiles(held);
    throw thrown;
  }
}

export function withFiles({ spec, files }: SessionRequest, held: HeldManifests | undefined): SessionSpec {
  const found = files && held?.get(keyOf(files));
  return found ? { ...spec, files: { manifest: found.manifest, count: found.count, bytes: found.bytes } } : spec;
}
