import { testImageBuilder } from '../../../conformance/image-builder.ts';
import { openPackerWorld } from '../../../conformance/packer-world.ts';
import { isGone } from '../fake/compute/instance.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';
import provider from '../index.ts';
import { openImages, VARIABLES } from './builder.ts';
import { GceImageConfig } from './config.ts';
import { packerFor } from './testing.ts';

const ELSEWHERE = 'an image of Compute Engine is where it is used';

testImageBuilder('gcp_vm', {
  kind: provider.images.gcp_vm,
  variables: [...VARIABLES, 'PACKER_CONFIG_DIR', 'PACKER_PLUGIN_PATH', 'CHECKPOINT_DISABLE'],
  excuses: { pushes: ELSEWHERE, 'push refused': ELSEWHERE },
  faults: ['throttled', 'denied', 'unavailable'],
  async openWorld() {
    const scene = openComputeScene({ pageSize: 2 });
    const { compute, clock } = scene;
    const path = (name: string): string => `projects/${PROJECT}/global/images/${name}`;
    return openPackerWorld({
      scene,
      variables: {},
      // They would send it elsewhere.
      hidden: /^(GOOGLE|CLOUDSDK|GCE|HOME|STORAGE)/,
      cloud: packerFor(scene),
      diesAt: 'started',
      open: (context) => openImages(GceImageConfig.parse({ project: PROJECT }), context),
      images: () => compute.made.map(({ name }) => path(name)),
      others: () => [
        ...compute.instances.filter((one) => !isGone(one, clock.now())).map(({ name }) => name),
        ...compute.disks.map(({ name }) => `${name}, its disk`),
      ],
      async addForeign() {
        const name = 'muster-agent-1-2-0-0a1b2c3d';
        const own = {
          project: PROJECT,
          family: 'muster-agent',
          description: '',
          labels: {},
          madeAtMs: 1,
          readyAtMs: 1,
        };
        compute.made.push({ ...own, id: '77', name });
        const reference = path(name);
        return { name: 'muster-agent', version: '1.2.0', recipe: '', ids: { '': '77' }, reference, builtAt: 1 };
      },
      failures: {
        throttled: { kind: 'throttle' },
        denied: { kind: 'error', code: 'forbidden', message: 'forbidden', status: 403 },
        unavailable: { kind: 'garbage' },
      },
    });
  },
});
