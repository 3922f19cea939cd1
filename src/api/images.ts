import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { ImageBuild, Images } from '#core/image.ts';
import type { ApiDeps } from './deps.ts';
import type { ChangeTable, Noun } from './noun.ts';
import { selectPage } from './page.ts';
import { type Route, route } from './route.ts';
import { readBuild, shownBuild, shownImage } from './shown/image.ts';
import * as wire from './wire/image.ts';
import { Empty, Name, paging } from './wire/shared.ts';

// Each character of a log may be six bytes of JSON.
const BODY_LIMIT = 16_000_000;

function imagesOf({ features }: ApiDeps): Images {
  if (features.images) return features.images;
  throw new Fault('unsupported', 'This server keeps no records of images.');
}

async function findBuild({ store }: ApiDeps, id: string): Promise<ImageBuild> {
  const [found] = await store.history.imageBuilds({ id }, { limit: 1, order: 'newest first' });
  if (found) return found;
  throw new Fault('missing', `There is no image build ${id}.`, {
    at: 'path.build',
    remedy: 'List builds with `muster image builds`.',
  });
}

function imageRoutes(deps: ApiDeps): Route[] {
  const { store, redactText } = deps;
  return [
    route({
      method: 'GET',
      path: '/images',
      role: 'viewer',
      summary: 'Lists the images that commands have built, by the records that the server keeps; the newest first.',
      query: z.strictObject({ ...paging, reference: Name.optional() }),
      reply: wire.ImageList,
      handle({ query: { reference, after, limit } }) {
        const rows = reference === undefined ? store.view.images.all() : store.view.images.by('reference', reference);
        const page = selectPage(rows, { keyOf: ({ id }) => id, after, limit, order: 'descending' });
        return { items: page.items.map(shownImage), next: page.next };
      },
    }),
    route({
      method: 'DELETE',
      path: '/images/:image',
      role: 'operator',
      summary: 'Drops the record of an image; the image itself stays where it is. Absent is a success.',
      params: z.object({ image: Name }),
      reply: Empty,
      status: 204,
      async handle({ params: { image }, caller }) {
        await imagesOf(deps).forget(image, caller);
        return undefined;
      },
    }),
    route({
      method: 'GET',
      path: '/image-builds',
      role: 'viewer',
      summary: 'Lists builds of images that are over, the newest first.',
      query: z.strictObject({ ...paging, image: Name.optional(), builder: Name.optional() }),
      reply: wire.ImageBuildList,
      async handle({ query: { image, builder, after, limit } }) {
        const found = await store.history.imageBuilds(
          { image, builder },
          { after, limit: limit + 1, order: 'newest first' },
        );
        const items = found.slice(0, limit).map((row) => shownBuild(row, redactText));
        return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
      },
    }),
    route({
      method: 'GET',
      path: '/image-builds/:build',
      role: 'viewer',
      summary: 'Shows a build of an image, with its output.',
      params: z.object({ build: Name }),
      reply: wire.ImageBuildWithLog,
      async handle({ params: { build } }) {
        const row = await findBuild(deps, build);
        return { ...shownBuild(row, redactText), log: redactText(await imagesOf(deps).logOf(build)) };
      },
    }),
    route({
      method: 'POST',
      path: '/image-builds',
      role: 'operator',
      summary: 'Records a build that ran on the machine of the caller. The server builds no images itself.',
      body: wire.ImageBuildIn,
      bodyLimit: BODY_LIMIT,
      reply: wire.ImageBuild,
      status: 201,
      async handle({ body, caller, header }) {
        const row = await imagesOf(deps).record(readBuild(body), caller);
        header('location', `/api/v1/image-builds/${row.id}`);
        return shownBuild(row, redactText);
      },
    }),
  ];
}

const changes: ChangeTable = {
  table: 'images',
  follow: (store, touched) => store.onChange('images', (_after, _before, id) => touched(id)),
  row(id, { store }) {
    const record = store.view.images.get(id);
    return record && shownImage(record);
  },
};

export const noun: Noun = { tag: 'images', order: 98, routes: imageRoutes, changes: [changes] };
