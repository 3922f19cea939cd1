import type { Agent } from '#core/machine.ts';
import type { SessionSpec } from '#core/session.ts';

type Labels = Readonly<Record<string, string>>;

// No label of a user has such a name: control characters are refused there.
const FILES = '\0files';

/** What a session asks of its agent: its labels, and for its files an agent that takes them. */
export function askedLabels({ labels, files }: Pick<SessionSpec, 'labels' | 'files'>): Labels {
  return files ? { ...labels, [FILES]: '' } : labels;
}

/** What an agent offers in the same form. */
export function offeredBy({ labels, takesFiles }: Pick<Agent, 'labels' | 'takesFiles'>): Labels {
  return takesFiles ? { ...labels, [FILES]: '' } : labels;
}

export const describeAsked = (name: string, value: string | undefined): string =>
  name === FILES ? 'files for --sync (its agents are older, or of Velda)' : `${name}=${value}`;
