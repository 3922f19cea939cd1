import type { Gate } from '#clouds/gate.ts';
import { openKinds } from '#clouds/open-kinds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Images } from '#core/image.ts';
import type { Journal } from '#journal/journal.ts';
import { startLeftoverSweep } from './leftover-sweep.ts';
import { keepImageRecords } from './records.ts';
import { type ImageSettings, imageSection } from './section.ts';

type Base = FeatureBase<ImageSettings> & {
  readonly journal: Journal;
  readonly gate: Gate;
  readonly kinds: KnownKinds;
};

const feature: Feature<ImageSettings, Images, Base> = {
  id: 'images',
  section: { key: 'images', schema: imageSection },
  start(base) {
    const { kinds, context, gate, log } = base;
    let settings = base.settings;
    const builders = openKinds({ noun: 'image builder', kinds: kinds.images ?? {}, context, gate, log });
    const sweep = startLeftoverSweep({ ...base, builders, settings: () => settings });
    sweep.look();
    return {
      ...keepImageRecords(base),
      configure(next) {
        settings = next;
        sweep.look();
      },
      async stop() {
        await sweep.stop();
        await builders.closeAll();
      },
    };
  },
};

export default feature;
