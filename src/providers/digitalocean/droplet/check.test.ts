import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Backend, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { type DropletScene, openBackend, openScene } from '../fake/testing.ts';

const MOST_PAGES = 5;
const IN_TEN_MINUTES = 200;

const check = (scene: DropletScene, { check: ask }: Backend, pending: readonly PendingCreate[]) =>
  scene.during(ask?.(pending, going()) ?? Promise.resolve([]));
const created = async (scene: DropletScene, backend: Backend, count: number, launch = 'l1') =>
  (await scene.during(backend.create(aBatch(count, launch, launch), going()))) as PendingCreate[];

describe('a check of pending droplets', () => {
  it('tells any server which are made, which failed and which are not done', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    scene.fake.refuseLate(1);
    const [lost, made] = (await created(scene, backend, 2)) as [PendingCreate, PendingCreate];
    const early = await check(scene, backend, [lost, made]);
    await scene.clock.advance(10_000);
    const [young] = (await created(scene, backend, 1, 'l2')) as [PendingCreate];
    const late = await check(scene, await openBackend(scene), [lost, made, young]);

    expect(early).toEqual([lost, made]);
    expect(late).toMatchObject([{ name: lost.name, fault: { kind: 'exhausted' } }, { name: made.name }, young]);
    expect(late[1]?.operation).toBeUndefined();
  });

  it('fails with the scope that the token lacks, while the listing is whole', async () => {
    const scene = openScene({ bootMs: 10 * MINUTE_MS });
    const backend = await openBackend(scene);
    const pending = await created(scene, backend, 3);
    const denied = { kind: 'error', code: 'forbidden', status: 403 } as const;
    scene.fake.failureRules.add({ action: 'actions', times: 1_000, what: denied });
    await scene.clock.advance(2 * MINUTE_MS);

    await expect(check(scene, backend, pending)).rejects.toMatchObject({
      kind: 'denied',
      remedy: expect.stringContaining('actions:read'),
    });
    expect(await scene.during(backend.list(going()))).toHaveLength(3);
  });

  it('does not know of an action that is older than the last pages', async () => {
    const scene = openScene({ pageSize: 1 });
    const backend = await openBackend(scene);
    const [old] = (await created(scene, backend, 1)) as [PendingCreate];
    await created(scene, backend, MOST_PAGES, 'l2');

    expect(await check(scene, backend, [old])).toEqual([]);
  });

  it('takes at most 20 requests a minute for 1,000 droplets, however often it is asked for', async () => {
    const scene = openScene({ bootMs: 3 * HOUR_MS });
    const backend = await openBackend(scene);
    const pending: PendingCreate[] = [];
    for (let at = 0; at < 100; at++) pending.push(...(await created(scene, backend, 10, `l${at}`)));
    const looks = () => scene.fake.countOf('actions');
    for (let at = 0; at < 600; at++) {
      const some = Array.from({ length: 10 }, (_, place) => pending[(at * 10 + place) % 1_000] as PendingCreate);
      expect(await check(scene, backend, some)).toEqual(some);
      await scene.clock.advance(1_000);
    }

    expect(looks()).toBeLessThanOrEqual(IN_TEN_MINUTES + MOST_PAGES);
    expect(looks()).toBeGreaterThan(100);
  });
});
