// An operator cannot become root on the server or in the cluster by any option of a new computer: tried for each key.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type KnownKinds, knownKinds, oneKind } from '#config/kinds.ts';
import { offerOf } from '#config/offers.ts';
import { parseWith } from '#config/parse.ts';
import { nodeOf } from '#config/tree.ts';
import { Fault } from '#core/fault.ts';
import { providers } from '../providers/providers.gen.ts';
import { optionsOf, placeOn, platformNamed, platformNames } from './platforms/platforms.ts';
import { ADMIN, ANN, type ComputerWorld, openComputerWorld } from './testing/world.ts';

const context = { variable: () => undefined, agentImage: 'muster/agent:1' };
const NEEDED: Readonly<Record<string, Record<string, string>>> = {
  aws_ecs: { region: 'us-west-2', subnets: 'subnet-1', image: 'host.example/agent' },
  azure: { subscription_id: '00000000-0000-0000-0000-000000000001' },
  gcp: { project: 'my-project' },
  azure_container_instances: {
    subscription_id: '00000000-0000-0000-0000-000000000001',
    resource_group: 'g',
    image: 'host.example/agent',
  },
};

/** All that a platform for operators may make of its options; whatever else a backend can do is not theirs. */
const MADE: Readonly<Record<string, { kind: string; keys: readonly string[] }>> = {
  aws_ecs: {
    kind: 'aws_ecs',
    // The role pulls the image; nothing in the container gets it.
    keys: ['region', 'subnets', 'image', 'cluster_name', 'container_name', 'security_groups', 'execution_role'],
  },
  aws: { kind: 'aws_launch_template', keys: ['region', 'instance_type', 'ami_id', 'ami_name', 'security_groups'] },
  azure: { kind: 'azure_vm', keys: ['subscription_id', 'resource_group', 'location', 'vm_size', 'image'] },
  gcp: { kind: 'gce_instance', keys: ['project', 'zone', 'machine_type', 'image'] },
  azure_container_instances: {
    kind: 'azure_container_instance',
    keys: ['subscription_id', 'resource_group', 'location', 'image', 'container_name'],
  },
};

const HOSTILE = [
  ...[
    '\x24{HOME}',
    '\x24{AWS_SECRET_ACCESS_KEY}',
    'file:/etc/passwd',
    '/etc/passwd',
    '../../../etc/passwd',
    '$(id)',
    '`id`',
  ],
  ...['x.attacker.example', 'x/../../y', 'x#', 'x?y=1', 'x@attacker.example', 'a\r\nHost: b', 'a\0b', '--privileged'],
  ...['http://169.254.169.254/', 'unix:///var/run/docker.sock', '"; rm -rf /; "', '#cloud-config', '{{ env "HOME" }}'],
  ...['__proto__', 'constructor'],
];

let kinds: KnownKinds;
beforeAll(() => {
  kinds = knownKinds(providers);
});

const faultOf = (act: () => unknown): Fault | undefined => {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return Fault.from(thrown);
  }
};

/** What an operator's options come to, with every check that `create` makes, or the fault. */
function offered(platform: string, options: Readonly<Record<string, unknown>>) {
  try {
    const { backend } = placeOn(platform, { ...NEEDED[platform], ...options }, context);
    const { value, problems } = parseWith(oneKind(kinds.backends, 'backend', 'operator'), nodeOf(backend), {});
    return problems ? undefined : { backend, offer: offerOf(value) };
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Fault);
    expect(Fault.from(thrown).kind).toBe('invalid');
    return undefined;
  }
}

const refusalOf = (world: ComputerWorld, request: Partial<Parameters<ComputerWorld['computers']['create']>[0]>) =>
  world.computers.create({ name: 'dev', ...request }, ANN).then(
    () => 'created',
    (thrown) => Fault.from(thrown).kind,
  );

describe('an operator that creates a computer', () => {
  it('is refused on every platform of the server itself, of its cluster or with an identity of the cloud, whatever the options', async () => {
    const world = await openComputerWorld();
    const forAdmins = platformNames.filter((name) => platformNamed(name).needsAdmin);
    expect(forAdmins).toEqual(['local', 'kubernetes', 'aws_eks', 'azure_aks', 'gcp_gke', 'gcp_cloud_run']);

    for (const platform of forAdmins) {
      const needed = { cluster_name: 'c', region: 'r', resource_group: 'g', project_id: 'p' };
      const shared = optionsOf(platform).filter(({ name }) => name in needed);
      const least = Object.fromEntries(shared.map(({ name }) => [name, needed[name as keyof typeof needed]]));
      expect(['denied', 'invalid']).toContain(await refusalOf(world, { platform, options: least }));
      for (const { name } of optionsOf(platform))
        for (const value of HOSTILE)
          expect(await refusalOf(world, { platform, options: { ...least, [name]: value } }), name).not.toBe('created');
    }
    expect(world.life.store.view.computers.size).toBe(0);
  });

  it('is refused with every kind of backend, also those that run programs of the server', async () => {
    const world = await openComputerWorld();
    const names = Object.keys(kinds.backends);
    expect(names).toEqual(expect.arrayContaining(['process', 'command', 'docker', 'kubernetes']));

    for (const kind of ['sim', ...names])
      expect(await refusalOf(world, { backend: { [kind]: {} } }), kind).not.toBe('created');
    expect(await refusalOf(world, { backend: { sim: {} } })).toBe('denied');
    expect(world.life.store.view.computers.size).toBe(0);
  });

  it('may take a template as it is, and can neither add options to it nor combine it', async () => {
    const world = await openComputerWorld({
      sections: { computers: { templates: { small: { backend: { sim: {} } } } } },
    });

    for (const more of [
      { options: { image: 'theirs' } },
      { options: { container_name: 'x' } },
      { platform: 'aws' },
      { backend: { sim: {} } },
    ])
      expect(await refusalOf(world, { template: 'small', ...more })).toBe('invalid');
    for (const template of ['__proto__', 'constructor', 'toString', '../small'])
      expect(await refusalOf(world, { template })).toBe('missing');
    expect(await refusalOf(world, { template: 'small' })).toBe('created');
  });

  it('reaches with each option of each other platform only what that option is for', () => {
    const forOperators = platformNames.filter((name) => !platformNamed(name).needsAdmin);
    expect(forOperators).toEqual(Object.keys(MADE));

    for (const platform of forOperators) {
      const { kind, keys } = MADE[platform] ?? { kind: '', keys: [] };
      for (const { name } of optionsOf(platform))
        for (const value of HOSTILE) {
          const made = offered(platform, { [name]: value });
          if (!made) continue;
          expect([made.offer.kind, Object.keys(made.backend)], `${platform} ${name} ${value}`).toEqual([kind, [kind]]);
          const config = made.backend[kind] as Readonly<Record<string, unknown>>;
          expect(keys).toEqual(expect.arrayContaining(Object.keys(config)));
          // As it was written: no variable and no file of the server is put in its place.
          expect(JSON.stringify(config)).toContain(JSON.stringify(value).slice(1, -1));
        }
    }
  });

  it.each(Object.keys(MADE))('cannot send the credentials of the server elsewhere by a place: %s', (platform) => {
    const [place] = optionsOf(platform).filter(({ name }) => ['region', 'location', 'zone'].includes(name));

    for (const value of HOSTILE.filter((text) => /[^A-Za-z0-9 _-]/.test(text)))
      expect(offered(platform, { [place?.name ?? '']: value }), value).toBeUndefined();
  });

  it.each(Object.keys(MADE))('is refused with every option that the platform does not have: %s', (platform) => {
    const known = new Set(optionsOf(platform).map(({ name }) => name));
    const keysOfKinds = ['user_data', 'agent_config', 'agent_config_content', 'iam_instance_profile', 'endpoint'];
    const others = [...keysOfKinds, 'service_account', 'credentials_file', 'host', 'privileged', 'volumes', 'command'];
    const unknown = fc.oneof(fc.constantFrom(...others), fc.string({ minLength: 1 }));

    fc.assert(
      fc.property(unknown, fc.jsonValue(), (name, value) => {
        fc.pre(!known.has(name) && name !== '__proto__');
        const fault = faultOf(() => placeOn(platform, { ...NEEDED[platform], [name]: value }, context));
        // Spelled in camel case it is the same option.
        if (fault === undefined) expect([...known].map((one) => one.replaceAll('_', ''))).toContain(name.toLowerCase());
        else expect(fault.kind).toBe('invalid');
      }),
      { numRuns: 200 },
    );
  });

  it('has no more computers than one token may have, and no admin is bound by what it may not', async () => {
    const world = await openComputerWorld({
      sections: { computers: { templates: { small: { backend: { sim: {} } } }, maxPerToken: 2 } },
    });
    for (const name of ['a', 'b']) expect(await refusalOf(world, { name, template: 'small' })).toBe('created');
    expect(await refusalOf(world, { name: 'c', template: 'small' })).toBe('quota');
    await expect(world.computers.create({ name: 'd', backend: { sim: {} } }, ADMIN)).resolves.toBeDefined();
  });
});
