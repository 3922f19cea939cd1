// Nebius's API, as far as this provider uses it. It knows nothing of the provider but its messages.
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { grpcAnswer } from '#fakes/grpc.ts';
import { type Limits, noLimits, openBuckets } from '#fakes/limits.ts';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import * as pb from '../gen/nebius_pb.ts';
import { refuseUnknownProject } from './check-creation.ts';
import { existsAt, type FakeInstance, shownInstance } from './instance.ts';
import type { FakeOperation } from './operations.ts';
import { type FakeProject, openProject } from './project.ts';
import { failure, refusalAnswer, refused } from './refusals.ts';
import { type FakePlatform, isPublicImage, PLATFORMS, PROJECTS, PUBLIC_FAMILIES, publicImage } from './seed-data.ts';
import { type FakeTokens, openFakeTokens } from './tokens.ts';
import { type NebiusCall, read, readCall, refuseIn, refuseViolations } from './wire.ts';

export interface FakeNebiusOptions {
  readonly clock: Clock;
  /** The most items on a page. */
  readonly pageSize?: number;
  readonly limits?: Limits<NebiusCall>;
  /** Listings show what was this long ago. */
  readonly lagMs?: number;
  readonly bootMs?: number;
  readonly keepsFailed?: boolean;
}

export interface FakeNebius
  extends Answering<NebiusCall, NebiusCall & RecordedCall>,
    Pick<FakeProject, 'instances' | 'operations' | 'stock' | 'preempt' | 'watch'> {
  /** How this cloud behaves; tests change it as they go. */
  readonly behaviour: { lagMs: number };
  readonly tokens: FakeTokens;
  /** By project and family: the newest image. */
  readonly images: Map<string, string>;
  /** How many instances a project may have. */
  quota: number;
  /** Someone makes an instance by hand. */
  add(given: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }): FakeInstance;
  /** The next creations are agreed to and fail. */
  refuseLate(count: number): void;
}

const [BOOT_MS, LAG_MS] = [2_000, 2_000];
const [LARGEST_PAGE, TOKEN_LIFE_MS] = [1_000, 3_600_000];

const tooMuch = (): Error => refused('TooManyRequests', 'Too many requests');

/** Nebius publishes none; these are there so that a flood is noticed. */
export const someLimits: Limits<NebiusCall> = () => [
  { limit: { bucket: 'calls', size: 200, perSecond: 50 }, count: 1 },
];

const shownPlatform = ({ name, title, isPreemptible, presets }: FakePlatform) => ({
  metadata: { id: `computeplatform-${name}`, name },
  spec: {
    humanReadableName: title,
    presets: presets.map(({ name: preset, vcpus, memoryGib, gpus }) => ({
      name: preset,
      resources: { vcpuCount: vcpus, memoryGibibytes: memoryGib, gpuCount: gpus },
    })),
  },
  status: { allowedForPreemptibles: isPreemptible },
});

export function openFakeNebius(options: FakeNebiusOptions): FakeNebius {
  const { clock, pageSize = LARGEST_PAGE, limits = noLimits } = options;
  const behaviour = { lagMs: options.lagMs ?? LAG_MS };
  const { bootMs = BOOT_MS, keepsFailed = false } = options;
  const images = new Map<string, string>();
  const hasImage = (id: string): boolean => isPublicImage(id) || [...images.values()].includes(id);
  const project = openProject({ clock, bootMs, keepsFailed, hasImage });
  const { operations, settings } = project;
  const tokens = openFakeTokens(clock);
  const take = openBuckets<NebiusCall>({ limits: () => limits, tooMuch });

  const answerOf = <Schema extends DescMessage>(schema: Schema, init: MessageInitShape<Schema>): Response =>
    grpcAnswer(toBinary(schema, create(schema, init)));
  const told = (operation: FakeOperation): Response => answerOf(pb.OperationSchema, operations.shown(operation));
  const shown = (instance: FakeInstance): Response => answerOf(pb.InstanceSchema, shownInstance(instance, clock.now()));
  const named = (call: NebiusCall): FakeInstance => project.found(read(pb.InstanceRequestSchema, call).id);

  function paged<T>(
    given: { readonly of: string; readonly token: string; readonly size: bigint },
    items: readonly T[],
    keyOf: (item: T) => string,
  ) {
    const question = {
      of: given.of,
      token: given.token || undefined,
      size: Math.min(Number(given.size) || LARGEST_PAGE, pageSize),
      nowMs: clock.now(),
      emptyPages: 0,
      tokenLifeMs: TOKEN_LIFE_MS,
    };
    const cursor = cursorOf(question);
    if (!cursor) throw refused('BadRequest', 'page_token: is not valid');
    return pageOf(question, cursor, inOrder(items, keyOf));
  }

  function list(call: NebiusCall): Response {
    const { parentId, pageSize: size, pageToken: token } = read(pb.ListInstancesRequestSchema, call);
    refuseUnknownProject(parentId);
    const seenMs = clock.now() - behaviour.lagMs;
    const seen = project.instances.filter((one) => one.parent === parentId && existsAt(one, seenMs));
    const page = paged({ of: `instances ${parentId}`, token, size }, seen, ({ id }) => id);
    const items = page.items.map((one) => shownInstance(one, seenMs));
    return answerOf(pb.ListInstancesResponseSchema, { items, nextPageToken: page.token ?? '' });
  }

  function platforms(call: NebiusCall): Response {
    const { parentId, pageSize: size, pageToken: token } = read(pb.ListPlatformsRequestSchema, call);
    refuseUnknownProject(parentId);
    const all = PLATFORMS.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const page = paged({ of: 'platforms', token, size }, all, ({ name }) => name);
    return answerOf(pb.ListPlatformsResponseSchema, {
      items: page.items.map(shownPlatform),
      nextPageToken: page.token ?? '',
    });
  }

  function operationsOf(call: NebiusCall): Response {
    const { resourceId, pageSize: size, pageToken: token } = read(pb.ListOperationsRequestSchema, call);
    const all = operations.of(resourceId).map((one, place) => ({ one, key: String(place).padStart(6, '0') }));
    const page = paged({ of: `operations ${resourceId}`, token, size }, all, ({ key }) => key);
    return answerOf(pb.ListOperationsResponseSchema, {
      operations: page.items.map(({ one }) => operations.shown(one)),
      nextPageToken: page.token ?? '',
    });
  }

  function batchGet(call: NebiusCall): Response {
    const items = read(pb.BatchGetRequestSchema, call).instanceIds.map((id) => {
      const instance = project.find(id);
      const result = instance
        ? ({ case: 'instance', value: create(pb.InstanceSchema, shownInstance(instance, clock.now())) } as const)
        : ({ case: 'error', value: failure('ResourceNotFound', id) } as const);
      return [id, { result }] as const;
    });
    return answerOf(pb.BatchGetResponseSchema, { items: Object.fromEntries(items) });
  }

  function getByName(call: NebiusCall): Response {
    const { parentId, name } = read(pb.GetByNameRequestSchema, call);
    const instance = project.living(parentId).find((one) => one.name === name);
    if (!instance) throw refused('ResourceNotFound', name);
    return shown(instance);
  }

  function image(call: NebiusCall): Response {
    const { imageFamily, parentId } = read(pb.GetLatestImageRequestSchema, call);
    const isPublic = parentId === '' && PUBLIC_FAMILIES.includes(imageFamily);
    const id = images.get(`${parentId} ${imageFamily}`) ?? (isPublic ? publicImage(imageFamily) : undefined);
    if (!id) throw refused('ResourceNotFound', imageFamily);
    return answerOf(pb.ImageSchema, { metadata: { id, name: imageFamily } });
  }

  function estimate(call: NebiusCall): Response {
    const [resource] = read(pb.EstimateRequestSchema, call).resourceSpecs;
    const { typeUrl = '', value = new Uint8Array() } = resource?.spec ?? {};
    if (!typeUrl.endsWith('/nebius.compute.v1.CreateInstanceRequest')) throw refused('BadRequest', 'spec: is unknown');
    refuseIn('nebius.compute.v1.CreateInstanceRequest', value);
    const wanted = fromBinary(pb.CreateInstanceRequestSchema, value).spec?.resources;
    const platform = PLATFORMS.find(({ name }) => name === wanted?.platform);
    const preset = platform?.presets.find(({ name }) => name === wanted?.preset);
    if (!preset) throw refused('BadRequest', 'resource_specs: unknown preset');
    const general = { total: { cost: String(preset.dollarsPerHour) } };
    const totalCosts = [{ aggregationUnit: { unit: 'hour' }, general }];
    return answerOf(pb.EstimateResponseSchema, { totalCosts, currency: 'usd' });
  }

  const actions: Readonly<Record<string, (call: NebiusCall) => Response>> = {
    create: (call) => told(project.createInstance(read(pb.CreateInstanceRequestSchema, call), call.key)),
    delete: (call) => told(project.remove(named(call))),
    stop: (call) => told(project.stop(named(call))),
    start: (call) => told(project.start(named(call))),
    get: (call) => shown(named(call)),
    getByName,
    batchGet,
    list,
    operation: (call) => told(operations.get(read(pb.GetOperationRequestSchema, call).id)),
    operations: operationsOf,
    platforms,
    image,
    estimate,
    exchange: (call) =>
      answerOf(pb.CreateTokenResponseSchema, tokens.exchange(read(pb.ExchangeTokenRequestSchema, call))),
  };

  function answer(call: NebiusCall): Response {
    if (call.action !== 'exchange') tokens.check(call.token);
    take(call, clock.now());
    const act = actions[call.action];
    if (!act) throw refused('Unimplemented', 'unknown method');
    refuseViolations(call);
    return act(call);
  }

  const answering = openAnswering<NebiusCall, NebiusCall & RecordedCall>(
    {
      read: readCall,
      record: (call, atMs) => ({ ...call, message: new Uint8Array(), atMs, outcome: 'open' }),
      answer,
      refuse: (_call, refusal) => refusalAnswer(refusal),
      tooMuch,
    },
    clock,
  );
  const { instances, stock, preempt, watch } = project;
  return {
    ...answering,
    behaviour,
    ...{ instances, operations, stock, preempt, watch, tokens, images },
    get quota() {
      return settings.quota;
    },
    set quota(most) {
      settings.quota = most;
    },
    add: ({ name, labels = {} }) =>
      project.make({ name, labels, parent: PROJECTS[0], spec: create(pb.InstanceSpecSchema) }),
    refuseLate(count) {
      settings.late = count;
    },
  };
}
