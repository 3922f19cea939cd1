import { heredoc } from './install.ts';

/** A script of the pool's document, and the key that it stands under. */
export interface OwnScript {
  readonly key: string;
  readonly script: string | undefined;
}

/** The user's own script first; whatever becomes of it, the agent starts. */
export function withOwnScript({ key, script }: OwnScript, ours: string): string {
  if (!script) return ours;
  return `#!/bin/sh
own=$(mktemp)
${heredoc('"$own"', script)}
chmod 700 "$own"
"$own" || echo "muster: ${key} failed" >&2
rm -f "$own"
${ours}`;
}
