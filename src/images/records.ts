// The server's records of images and of their builds. The images themselves are where they were built.
import type { Clock } from '#core/clock.ts';
import { idMaker } from '#core/id.ts';
import type { ImageBuild, ImageLogPiece, ImageRecord, Images, NewImageBuild } from '#core/image.ts';
import type { Random } from '#core/random.ts';
import { append, type Change, drop, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';

const PIECE_BYTES = 64 * 1024;
const MOST_PIECES = 1_000;

function piecesOf(build: string, at: number, text: string): ImageLogPiece[] {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  return Array.from({ length: count }, (_, n) => ({
    build,
    seq: n + 1,
    at,
    data: new Uint8Array(bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES)),
  }));
}

const isSame = (one: Pick<ImageRecord, 'recipe' | 'ids'>, other: Pick<ImageRecord, 'recipe' | 'ids'>): boolean =>
  one.recipe === other.recipe && JSON.stringify(one.ids) === JSON.stringify(other.ids);

export function keepImageRecords({
  store,
  clock,
  random,
  journal,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly journal: Pick<Journal, 'event' | 'redact'>;
}): Images {
  const nextId = idMaker(() => clock.now(), random);

  /** The record of the image of a build, in place of what had its name at that place before. */
  function imageChanges({ image, builder, cloud, host, version, recipe }: NewImageBuild, made: ImageBuild): Change[] {
    if (!image || recipe === undefined) return [];
    const { name, reference, ids, builtAt } = image;
    const record = { name, version, recipe, ids, reference, builtAt, builder, cloud, host };
    const held = [...store.view.images.by('reference', reference)];
    // One engine may have two builders, and one account is seen from many machines.
    if (held.some((one) => one.cloud === cloud && isSame(one, record))) return [];
    const replaced = held.filter((one) => one.cloud === cloud && one.host === host);
    return [
      ...replaced.map(({ id }) => drop('images', id)),
      put('images', { ...record, id: nextId(), build: made.id, by: made.by }),
    ];
  }

  return {
    async record(build, actor) {
      const { image, log, error, ...kept } = build;
      const said = error === undefined ? undefined : journal.redact(error);
      const row: ImageBuild = { ...kept, id: nextId(), image: image?.reference, error: said, by: actor.who };
      const { id, builder, outcome } = row;
      const name = image?.reference ?? `version ${row.version}`;
      const messages = {
        built: `${builder} built ${name} on ${row.host}.`,
        failed: `${builder} failed at ${name} on ${row.host}: ${said?.split('\n')[0] ?? ''}`,
      };
      await store.commit([
        append('imageBuilds', row),
        ...piecesOf(id, row.endedAt, journal.redact(log)).map((piece) => append('imageLogs', piece)),
        ...imageChanges(build, row),
        ...(outcome === 'unchanged'
          ? []
          : [journal.event({ kind: `image.${outcome}`, subject: `image/${id}`, message: messages[outcome] }, actor)]),
      ]);
      return row;
    },

    async forget(id, actor) {
      const record = store.view.images.get(id);
      if (!record) return;
      const message = `Forgot ${record.reference}, which ${record.builder} built on ${record.host}.`;
      const event = journal.event({ kind: 'image.forgotten', subject: `image/${record.build}`, message }, actor);
      await store.commit([drop('images', id), event]);
    },

    async logOf(build) {
      const found = await store.history.imageLogs({ build }, MOST_PIECES);
      return Buffer.concat(found.map(({ data }) => data)).toString();
    },
  };
}
