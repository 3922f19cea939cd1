import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Images } from '#core/image.ts';
import type { Journal } from '#journal/journal.ts';
import { keepImageRecords } from './records.ts';

type Base = FeatureBase<undefined> & { readonly journal: Journal };

const feature: Feature<undefined, Images, Base> = {
  id: 'images',
  start: (base) => ({ ...keepImageRecords(base), configure() {}, async stop() {} }),
};

export default feature;
