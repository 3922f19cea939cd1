import type { Gate } from '#clouds/gate.ts';
import { openKinds } from '#clouds/open-kinds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Runtimes } from '#core/runtime.ts';
import type { Journal } from '#journal/journal.ts';
import { startHostReports } from './host-reports.ts';
import { startOrphans } from './orphans.ts';
import { startReconciling } from './reconcile.ts';
import { refusedSet } from './refused-set.ts';
import { openRequests } from './requests.ts';
import { type RuntimeSettings, sectionSchema } from './section.ts';
import { startServerUrlCheck } from './server-url.ts';
import { openStaticRuntimes } from './static-runtimes.ts';

type Base = FeatureBase<RuntimeSettings> & {
  readonly journal: Journal;
  readonly gate: Gate;
  readonly kinds: KnownKinds;
};

const feature: Feature<RuntimeSettings, Runtimes, Base> = {
  id: 'runtimes',
  section: {
    key: 'runtimes',
    schema: sectionSchema,
    variables: {
      provisioners: { name: 'RILL_ADMIN_PROVISIONER_SET_JSON', holds: 'json' },
      default: { name: 'RILL_ADMIN_DEFAULT_PROVISIONER', holds: 'text' },
    },
  },
  start(base) {
    const { store, clock, random, log, journal, context, gate, kinds } = base;
    let settings = base.settings;
    const current = (): RuntimeSettings => settings;
    const hosts = openKinds({ noun: 'runtime', kinds: kinds.runtimes ?? {}, context, gate, log });
    const fixed = openStaticRuntimes({ store, settings: current, random: () => random.next() });
    const collecting = new Set<string>();
    const deps = { store, clock, random, log, journal, hosts, settings: current, collecting };
    const loop = startReconciling(deps);
    const orphans = startOrphans({ ...deps, host: loop.host });
    const serverUrl = startServerUrlCheck({ ...deps, context });
    const reports = startHostReports({ ...deps, statuses: fixed.statuses });
    const wakeAll = (): void => {
      for (const { id } of store.view.runtimes.all()) loop.poke(id);
      orphans.look();
      serverUrl.look();
      reports.look();
    };
    const stopFollowing = store.onChange('runtimes', (after, before) => {
      // An update that has ended, or came up after all, lets the next one begin.
      const hasLeft = before?.phase !== after?.phase && (before?.phase === 'updating' || before?.phase === 'error');
      if (hasLeft) loop.pokeNext();
    });
    wakeAll();
    return {
      ...openRequests({ ...deps, fixed, loop }),
      configure(next) {
        settings = next;
        wakeAll();
      },
      refuses: (next) => refusedSet(store, settings, next),
      async stop() {
        stopFollowing();
        fixed.stop();
        orphans.stop();
        serverUrl.stop();
        await loop.stop();
        await hosts.closeAll();
      },
    };
  },
};

export default feature;
