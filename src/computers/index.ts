import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Budgets } from '#core/budget.ts';
import type { Computers } from '#core/computer.ts';
import type { BootSettings, Feature, FeatureBase } from '#core/feature.ts';
import type { Journal } from '#journal/journal.ts';
import type { Machines } from '#machines/machines.ts';
import { agentImageOf } from './agent-image.ts';
import { startComputerLoop } from './reconcile.ts';
import { openComputerRequests } from './requests.ts';
import { type ComputerSettings, computerSection } from './section.ts';

type Base = FeatureBase<ComputerSettings> & {
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly machines: Machines;
  readonly link: AgentLink;
  readonly boot: BootSettings;
  readonly kinds: KnownKinds;
  budgets?(): Budgets | undefined;
};

const feature: Feature<ComputerSettings, Computers, Base> = {
  id: 'computers',
  section: { key: 'computers', schema: computerSection },
  start(base) {
    let settings = base.settings;
    const loop = startComputerLoop(base);
    const requests = openComputerRequests({
      ...base,
      loop,
      settings: () => settings,
      agentImage: agentImageOf(base.context.userAgent),
      endMoved: ({ id }) => loop.tellEnd(id),
    });
    return {
      ...requests,
      configure(next) {
        settings = next;
      },
      stop: loop.stop,
    };
  },
};

export default feature;
