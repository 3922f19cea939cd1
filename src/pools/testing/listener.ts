import type { DocumentReport } from '#core/source.ts';
import { fakeSource, outage } from './world.ts';

type Reported = readonly [key: string, status: string, pool?: string | undefined];

/** A source that is reported to about its documents, and what it has heard since it was last asked. */
export function listener(documents: Readonly<Record<string, string>>) {
  const source = fakeSource(documents);
  let reported: Reported[] = [];
  const heard: (DocumentReport | 'gone')[] = [];
  const listening = Object.assign(source, {
    fails: false,
    heard,
    async report(key: string, status: DocumentReport | 'gone') {
      if (listening.fails) throw outage();
      heard.push(status);
      reported.push(status === 'gone' ? [key, 'gone'] : [key, status.phase, status.pool]);
    },
    /** The reports since it was last asked, by key. */
    reported(): readonly Reported[] {
      const since = reported.toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
      reported = [];
      return since;
    },
  });
  return listening;
}
