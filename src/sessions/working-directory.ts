import { posix } from 'node:path';
import { Fault } from '#core/fault.ts';
import { isInsideFolder } from '#core/file-manifest.ts';
import type { SessionRequest } from './sessions.ts';

/**
 * Where a session starts. A relative directory is inside its files, or below the caller's folder where the worker sees
 * that too; an agent's folder is its private matter, so anything else is refused.
 */
export function workingDirectory(
  { spec: { cwd }, files, callerFolder }: SessionRequest,
  { seesOurFiles, index }: { readonly seesOurFiles: boolean; readonly index: number },
): string | undefined {
  if (cwd?.startsWith('/')) return cwd;
  if (!files && callerFolder !== undefined && seesOurFiles) return posix.resolve(callerFolder, cwd ?? '.');
  if (cwd === undefined) return undefined;
  const at = `[${index}].spec.cwd`;
  if (!files)
    throw new Fault('invalid', `The working directory ${cwd} is relative, and the session has no files.`, {
      at,
      remedy: 'Send the folder along with `--sync`, or give an absolute path of the worker.',
    });
  if (isInsideFolder(cwd)) return cwd;
  throw new Fault('invalid', `The working directory ${cwd} is not in the folder that is sent.`, {
    at,
    remedy: 'Name a folder inside it.',
  });
}
