import { testImageBuilder } from '../../../conformance/image-builder.ts';
import { openPackerWorld } from '../../../conformance/packer-world.ts';
import { addVersion, isVersionThere } from '../fake/compute/galleries.ts';
import { isMadeThere } from '../fake/compute/groups.ts';
import { isPartThere, stateAt } from '../fake/compute/machine.ts';
import { computeOf, GROUP, VARIABLES as LOGIN, openScene, SECRET, SUBSCRIPTION } from '../fake/testing.ts';
import provider from '../index.ts';
import { openGalleryImages, VARIABLES } from './builder.ts';
import { GalleryImageConfig } from './config.ts';
import { GALLERY, IMAGE, packerFor } from './testing.ts';

const ELSEWHERE = 'a version of a gallery image is where it is used';

testImageBuilder('azure_vm', {
  kind: provider.images.azure_vm,
  variables: [...VARIABLES, 'PACKER_CONFIG_DIR', 'PACKER_PLUGIN_PATH', 'CHECKPOINT_DISABLE'],
  secrets: [SECRET],
  excuses: { pushes: ELSEWHERE, 'push refused': ELSEWHERE },
  faults: ['throttled', 'denied', 'unavailable'],
  async openWorld() {
    const scene = openScene({ pageSize: 2 });
    const { clock } = scene;
    const { made, vms, parts, references } = computeOf(scene);
    references.galleries.set(IMAGE.toLowerCase(), []);
    const versions = () =>
      (references.galleries.get(IMAGE.toLowerCase()) ?? []).filter((one) => isVersionThere(one, clock.now()));
    const config = { subscriptionId: SUBSCRIPTION, resourceGroup: GROUP, gallery: GALLERY, location: 'westeurope' };
    return openPackerWorld({
      scene,
      variables: LOGIN,
      hidden: /^AZURE_(FEDERATED|AUTHORITY|SUBSCRIPTION|RESOURCE|CONFIG)/,
      cloud: packerFor(scene),
      diesAt: 'captured',
      open: (context) => openGalleryImages(GalleryImageConfig.parse(config), context),
      images: () => versions().map(({ id }) => id),
      others: () => [
        ...[...made.groups, ...made.images].filter((one) => isMadeThere(one, clock.now())).map(({ id }) => id),
        ...parts.filter((part) => isPartThere(part, clock.now())).map(({ name }) => name),
        ...vms.filter((vm) => stateAt(vm, clock.now()) !== 'gone').map(({ id }) => id),
      ],
      async addForeign() {
        const { id } = addVersion(references.galleries, { image: IMAGE, name: '1.2.0' });
        return { name: 'muster-agent', version: '1.2.0', recipe: '', ids: { '': id }, reference: id, builtAt: 1 };
      },
      failures: {
        throttled: { kind: 'throttle' },
        denied: { kind: 'error', code: 'AuthorizationFailed', message: 'The client may not.', status: 403 },
        unavailable: { kind: 'garbage' },
      },
    });
  },
});
