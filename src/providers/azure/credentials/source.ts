import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import type { Token } from '#rest/tokens.ts';

/** Asks for a new access token to a resource, such as `https://management.azure.com`. */
export type TokenSource = (resource: string, signal: AbortSignal) => Promise<Token>;

export interface SourceDeps {
  readonly context: Pick<Context, 'fetch' | 'clock' | 'variable'>;
  readonly files: WatchedFiles;
  /** The token of `az login`; undefined where `az` is not installed. */
  cli?(resource: string, signal: AbortSignal): Promise<Token | undefined>;
}
