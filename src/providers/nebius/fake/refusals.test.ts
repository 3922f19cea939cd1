import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { GRPC } from '#core/unary.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { unaryOver } from '#fakes/grpc.ts';
import {
  AttachMode,
  CreateInstanceRequestSchema,
  DiskType,
  InstanceSchema,
  ListInstancesRequestSchema,
  ServiceErrorSchema,
  StatusSchema,
} from '../gen/nebius_pb.ts';
import { openFakeNebius } from './cloud.ts';
import { REQUESTS } from './definition.gen.ts';
import { PATHS } from './wire.ts';

const INSTANCES = '/nebius.compute.v1.InstanceService';

type Wanted = MessageInitShape<typeof CreateInstanceRequestSchema>;
type Spec = NonNullable<Wanted['spec']>;

const IMAGE = 'computeimage-ubuntu24.04-cuda13.0';
const INTERFACE = { subnetId: 'subnet-xyz', name: 'eth0', ipAddress: {} };
const bootDisk = (sourceImageId: string, type: DiskType = DiskType.NETWORK_SSD) => ({
  attachMode: AttachMode.READ_WRITE,
  managedDisk: { name: 'boot', spec: { sizeGibibytes: 40n, type, sourceImageId } },
});
const bytesOf = (more: object = {}, parentId = 'folder-abc123'): Uint8Array => {
  const spec = {
    resources: { platform: 'gpu-h200-sxm', preset: '1gpu-16vcpu-200gb' },
    networkInterfaces: [INTERFACE],
    bootDisk: bootDisk(IMAGE),
    ...more,
  } as Spec;
  return toBinary(CreateInstanceRequestSchema, create(CreateInstanceRequestSchema, { metadata: { parentId }, spec }));
};

/** The same request with one more field. */
const withField = (number: number): Uint8Array =>
  Buffer.concat([bytesOf(), new BinaryWriter().tag(number, WireType.Varint).int32(1).finish()]);

async function ask(path: string, message: Uint8Array, token = 'ne1planted') {
  const fake = openFakeNebius({ clock: new VirtualClock() });
  const call = { address: 'https://api.nebius.cloud', path, metadata: { authorization: `Bearer ${token}` }, message };
  const { code, text, details } = await unaryOver(fake.fetch)(call, going());
  const status = details && fromBinary(StatusSchema, details);
  const error = status?.details[0] && fromBinary(ServiceErrorSchema, status.details[0].value);
  return { code, text, error: error?.code };
}

describe('the fake Nebius', () => {
  it('takes a request that fits the definition', async () => {
    expect(await ask(`${INSTANCES}/Create`, bytesOf())).toMatchObject({ code: GRPC.OK });
  });

  it.each([
    ['without an interface', { networkInterfaces: [] }, 'spec.network_interfaces: value is required'],
    [
      'whose interface has a capital',
      { networkInterfaces: [{ ...INTERFACE, name: 'Eth0' }] },
      'spec.network_interfaces[0].name: value does not match regex pattern',
    ],
    [
      'of nine interfaces',
      { networkInterfaces: Array(9).fill(INTERFACE) },
      'spec.network_interfaces: value must contain no more than 8 item(s)',
    ],
    ['without a boot disk', { bootDisk: undefined }, 'spec.boot_disk: value is required'],
    [
      'with an unknown type of disk',
      { bootDisk: bootDisk(IMAGE, 99 as DiskType) },
      'spec.boot_disk.managed_disk.spec.type: value must be one of the defined enum values',
    ],
    ['with a bad host name', { hostname: 'a_b' }, 'spec.hostname: value does not match'],
    [
      'with user data that are too long',
      { cloudInitUserData: 'x'.repeat(32_769) },
      'spec.cloud_init_user_data: value length must be at most 32768 characters',
    ],
    ['that leaves the preemption open', { preemptible: {} }, 'spec.preemptible.on_preemption: value is required'],
  ])('refuses an instance %s, and names the field', async (_what, more, text) => {
    const answer = await ask(`${INSTANCES}/Create`, bytesOf(more));

    expect(answer).toMatchObject({ code: GRPC.INVALID_ARGUMENT, error: 'BadRequest' });
    expect(answer.text).toContain(text);
  });

  it('refuses fields that the messages of Nebius do not have', async () => {
    expect(await ask(`${INSTANCES}/Create`, withField(77))).toMatchObject({
      code: GRPC.INVALID_ARGUMENT,
      text: 'request#77: unknown field',
    });
  });

  it('refuses bytes that are no such message', async () => {
    const instance = toBinary(InstanceSchema, create(InstanceSchema, { metadata: { id: 'x' } }));

    expect(await ask(`${INSTANCES}/Get`, instance.slice(0, 2))).toMatchObject({ code: GRPC.INVALID_ARGUMENT });
  });

  it.each([
    ['subnet', { networkInterfaces: [{ ...INTERFACE, subnetId: 'subnet-none' }] }, 'subnet-none'],
    ['subnet in this project', { networkInterfaces: [{ ...INTERFACE, subnetId: 'vpcsubnet-xyz' }] }, 'vpcsubnet-xyz'],
    ['image', { bootDisk: bootDisk('computeimage-none') }, 'computeimage-none'],
    ['service account', { serviceAccountId: 'serviceaccount-9' }, 'serviceaccount-9'],
    ['GPU cluster', { gpuCluster: { id: 'computegpucluster-9' } }, 'computegpucluster-9'],
    [
      'filesystem',
      {
        filesystems: [
          { attachMode: AttachMode.READ_WRITE, mountTag: 'fs', existingFilesystem: { id: 'computefilesystem-9' } },
        ],
      },
      'computefilesystem-9',
    ],
  ])('knows no such %s', async (_what, more, id) => {
    expect(await ask(`${INSTANCES}/Create`, bytesOf(more))).toEqual({
      code: GRPC.NOT_FOUND,
      text: id,
      error: 'ResourceNotFound',
    });
  });

  it('refuses an unknown project as one without access', async () => {
    const listing = toBinary(
      ListInstancesRequestSchema,
      create(ListInstancesRequestSchema, { parentId: 'project-none' }),
    );
    const answers = [
      await ask(`${INSTANCES}/Create`, bytesOf({}, 'project-none')),
      await ask(`${INSTANCES}/List`, listing),
    ];

    expect(answers.map(({ code }) => code)).toEqual([GRPC.PERMISSION_DENIED, GRPC.PERMISSION_DENIED]);
  });

  it('refuses a token that it did not give', async () => {
    expect(await ask(`${INSTANCES}/Create`, bytesOf(), 'ne1other')).toMatchObject({ code: GRPC.UNAUTHENTICATED });
  });

  it('has a definition of every method', () => {
    expect(PATHS.filter((path) => !(path in REQUESTS))).toEqual([]);
  });
});
