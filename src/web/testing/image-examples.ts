import * as image from '../../api/wire/image.ts';
import { NOW } from './now.ts';

const at = NOW;

const imageRow = {
  id: 'r1',
  name: 'muster-agent',
  version: '1.0.0',
  reference: 'muster-agent:1.0.0',
  recipe: 'abc',
  ids: { 'us-west-2': 'ami-1' },
  builder: 'aws-ami',
  cloud: 'aws:us-west-2',
  host: 'laptop',
  build: 'b1',
  built_at: at,
  by: 'ada',
};
const build = {
  id: 'b1',
  image: 'muster-agent:1.0.0',
  builder: 'aws-ami',
  cloud: 'aws:us-west-2',
  host: 'laptop',
  version: '1.0.0',
  recipe: 'abc',
  outcome: 'failed',
  error: 'no room',
  started_at: at,
  ended_at: at,
  by: 'ada',
};

export const imageAnswers: Readonly<Record<string, unknown>> = {
  '/images': image.ImageList.parse({ items: [imageRow] }),
  '/image-builds': image.ImageBuildList.parse({ items: [build] }),
  '/image-builds/b1': image.ImageBuildWithLog.parse({ ...build, log: 'step 1' }),
};
