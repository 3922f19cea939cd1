import type { DocumentReport } from '#core/source.ts';
import { fakeSource, outage } from './world.ts';

type Told = readonly [key: string, status: string, pool?: string | undefined];

/** A source that is reported to about its documents, and what it has heard since it was last asked. */
export function listener(documents: Readonly<Record<string, string>>) {
  const source = fakeSource(documents);
  let told: Told[] = [];
  const heard: (DocumentReport | 'gone')[] = [];
  const listening = Object.assign(source, {
    fails: false,
    heard,
    async report(key: string, status: DocumentReport | 'gone') {
      if (listening.fails) throw outage();
      heard.push(status);
      told.push(status === 'gone' ? [key, 'gone'] : [key, status.phase, status.pool]);
    },
    /** The reports since it was last asked, by key. */
    told(): readonly Told[] {
      const since = told.toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
      told = [];
      return since;
    },
  });
  return listening;
}
