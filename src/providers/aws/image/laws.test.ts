import { testImageBuilder } from '../../../conformance/image-builder.ts';
import { openPackerWorld } from '../../../conformance/packer-world.ts';
import { stateAt } from '../fake/ec2/instance.ts';
import provider from '../index.ts';
import { openScene, REGION } from '../testing.ts';
import { openAmis } from './builder.ts';
import { AmiConfig, VARIABLES } from './config.ts';
import { addBase, packerFor } from './testing.ts';

const SECRETS = {
  AWS_ACCESS_KEY_ID: 'AKIATEST',
  AWS_SECRET_ACCESS_KEY: 'planted-secret',
  AWS_SESSION_TOKEN: 'planted-token',
};

const ELSEWHERE = 'an AMI is where it is used';

testImageBuilder('aws_ami', {
  kind: provider.images.aws_ami,
  variables: [...VARIABLES, 'PACKER_CONFIG_DIR', 'PACKER_PLUGIN_PATH', 'CHECKPOINT_DISABLE'],
  secrets: [SECRETS.AWS_SECRET_ACCESS_KEY, SECRETS.AWS_SESSION_TOKEN],
  excuses: { pushes: ELSEWHERE, 'push refused': ELSEWHERE },
  faults: ['throttled', 'denied', 'unauthenticated', 'unavailable'],
  async openWorld() {
    const scene = openScene({ behaviour: { largestPage: 2 } });
    const region = scene.fake.region(REGION);
    addBase(scene.fake);
    const before = { groups: region.groups.size, keys: region.keyPairs.size, images: new Set(region.images.keys()) };
    const added = () => [...region.images.values()].filter(({ id }) => !before.images.has(id));
    const isFinished = ({ made, tags }: ReturnType<typeof added>[number]): boolean =>
      !made || tags?.has('muster:recipe') === true;
    return openPackerWorld({
      scene,
      variables: SECRETS,
      cloud: packerFor(scene),
      diesAt: 'captured',
      open: (context) => openAmis(AmiConfig.parse({ region: REGION }), context),
      images: () =>
        added()
          .filter(isFinished)
          .map(({ name }) => name),
      others: () => [
        ...scene.fake
          .machines()
          .filter((one) => stateAt(one, scene.clock.now()) !== 'terminated')
          .map(({ id }) => id),
        ...[...region.groups.keys()].slice(before.groups),
        ...[...region.keyPairs].slice(before.keys),
        ...added()
          .filter((image) => !isFinished(image))
          .map(({ id }) => id),
        ...[...region.snapshots].filter((id) => !added().some(({ made }) => made?.snapshotId === id)),
      ],
      async addForeign() {
        const [name, id] = ['muster-agent-1.2.0-0a1b2c3d', 'ami-000000000000f0001'];
        const own = { owner: scene.fake.world.account, createdAtMs: 1, architecture: 'x86_64' };
        region.images.set(id, { id, name, ...own });
        return {
          name: 'muster-agent',
          version: '1.2.0',
          recipe: '',
          ids: { [REGION]: id },
          reference: name,
          builtAt: 1,
        };
      },
      failures: {
        throttled: { kind: 'throttle' },
        denied: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
        unauthenticated: { kind: 'error', code: 'AuthFailure', status: 401 },
        unavailable: { kind: 'garbage' },
      },
    });
  },
});
