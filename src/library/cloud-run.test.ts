// A class on a platform whose machines are reached by HTTPS, at an address that the cloud chooses.
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { DAY_MS } from '#core/clock.ts';
import type { FakeGcp } from '../providers/gcp/fake/fake-gcp.ts';
import { containerIn, hostOf, isGone, nameOf, variableIn } from '../providers/gcp/fake/run/service.ts';
import { IMAGE } from '../providers/gcp/fake/run/testing/scene.ts';
import { fakesOf, RUN_SLICE } from '../providers/gcp/fake/run/testing/slices.ts';
import { DockerProvisioner } from './classes.ts';
import { DockerPlatform } from './options.ts';
import { type LibraryWorld, openLibraryWorld } from './testing/world.ts';

const runOf = ({ cloud }: LibraryWorld) => (fakesOf.get(cloud) as FakeGcp).world.run;
const remains = (world: LibraryWorld): readonly string[] =>
  runOf(world).services.flatMap((one) => (isGone(one, world.clock.now()) ? [] : [nameOf(one)]));

const OPTIONS = { platform: DockerPlatform.GCP_CLOUD_RUN, projectId: 'my-project' };

it('DockerProvisioner sets a service of Cloud Run up, finds it at its URL, and leaves nothing', async () => {
  const world = await openLibraryWorld(RUN_SLICE);
  const [image = '', version] = IMAGE.split(':');
  const given = { ...OPTIONS, image, version, containerName: 'box', port: 9000, ttl: '8h' };
  const box = new (world.script().use(DockerProvisioner))({ ...given, log: world.log });
  const atMs = world.clock.now();

  await world.during(box.setup());
  const [service] = runOf(world).services;
  const host = service ? hostOf(service) : '';
  const { serve, endsAt, broker, joinToken } = parse(service ? variableIn(service, 'MUSTER_AGENT_CONFIG') : '');

  expect(box.endpoint).toEqual({ host, port: 443, scheme: 'https' });
  expect(world.probes).toContain(`https://${host}:443/health`);
  expect(service?.wanted).toMatchObject({ invokerIamDisabled: true, ingress: 'INGRESS_TRAFFIC_ALL' });
  expect(service && containerIn(service)).toMatchObject({
    name: 'box',
    image: IMAGE,
    ports: [{ containerPort: 9000 }],
  });
  expect({ serve, broker, joinToken }).toEqual({ serve: 9000, broker: {}, joinToken: undefined });
  expect(Date.parse(endsAt) - atMs).toBeLessThan(DAY_MS / 2);
  expect(await world.during(box.isRunning())).toBe(true);

  await world.during(box.teardown());
  expect(remains(world)).toEqual([]);
});

it('without an image it says at once which option to give, and by which command to push one', async () => {
  const world = await openLibraryWorld(RUN_SLICE);
  const Docker = world.script().use(DockerProvisioner);

  expect(() => new Docker(OPTIONS)).toThrow(
    expect.objectContaining({ kind: 'invalid', at: 'image', remedy: expect.stringContaining('--push HOST/NAME') }),
  );
});

it('a service that is private on request is set up only for who is let in', async () => {
  const world = await openLibraryWorld(RUN_SLICE, { reaches: () => false });
  const box = new (world.script().use(DockerProvisioner))({
    ...{ ...OPTIONS, image: IMAGE, allowUnauthenticated: false, timeout: 60 },
  });

  await expect(world.during(box.setup())).rejects.toThrow(/GET \/health does not answer at https:/);
  expect(runOf(world).services[0]?.wanted).not.toHaveProperty('invokerIamDisabled');
  expect(remains(world)).toEqual([]);
});
