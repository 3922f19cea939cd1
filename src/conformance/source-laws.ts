// The laws of a source: what the rest of the program relies on wherever documents are kept.
import { Fault } from '#core/fault.ts';
import type { Document, Source } from '#core/provider.ts';
import type { DocumentReport } from '#core/source.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import { aDocument, PLANTED_SECRET, type SourceHarness, type SourceLawId, type SourceWorld } from './source-world.ts';
import type { Law } from './suite.ts';

export type SourceLaw = Law<SourceLawId, SourceWorld, SourceHarness>;

const going = (): AbortSignal => new AbortController().signal;
const NOTHING: ReadonlyMap<string, string> = new Map();
const keyOf = ({ key }: Document): string => key;
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `law-${String(at).padStart(4, '0')}`);

const list = (world: SourceWorld, source: Source, held = NOTHING): Promise<readonly Document[]> =>
  world.during(source.documents(held, going()));

const listedText = (world: SourceWorld, name: string, text: string): string => world.listedText?.(name, text) ?? text;

async function writeAll(world: SourceWorld, count: number): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const name of names(count)) {
    texts.set(await world.write(name, aDocument(name)), listedText(world, name, aDocument(name)));
  }
  return texts;
}

const versionsOf = (documents: readonly Document[]): ReadonlyMap<string, string> =>
  new Map(documents.map(({ key, version }) => [key, version]));

export const SOURCE_LAWS: readonly SourceLaw[] = [
  {
    id: 'lists all',
    name: 'lists all documents, every page of them, each once and letter by letter',
    async check(world, { many = 3 }) {
      const texts = await writeAll(world, many);
      const documents = await list(world, await world.open());

      sameNames(documents.map(keyOf), [...texts.keys()], 'the listing must hold what was written');
      for (const { key, text } of documents) demand(text === texts.get(key), `${key} is not as it was written`);
    },
  },
  {
    id: 'empty',
    name: 'answers an empty place with an empty list',
    async check(world) {
      const documents = await list(world, await world.open());

      demand(documents.length === 0, `lists ${documents.length} documents where there are none`);
    },
  },
  {
    id: 'held',
    name: 'sends no text for a version that is held, and the text for any other',
    async check(world) {
      await writeAll(world, 3);
      const source = await world.open();
      const held = new Map(versionsOf(await list(world, source)));
      const [other] = held.keys();
      held.set(other ?? '', 'a version that never was');
      const documents = await list(world, source, held);

      for (const { key, text } of documents) {
        const isRight = (text !== undefined) === (key === other);
        demand(isRight, text === undefined ? `${key} comes without its text` : `${key} is sent again`);
      }
    },
  },
  {
    id: 'versions',
    name: 'gives changed text another version, and keeps the versions of the rest, also when it is opened anew',
    async check(world) {
      const texts = await writeAll(world, 3);
      const before = versionsOf(await list(world, await world.open()));
      const [name = ''] = names(1);
      const changed = await world.write(name, aDocument(name, 2));
      const documents = await list(world, await world.open(), before);

      for (const { key, version, text } of documents) {
        const isChanged = key === changed;
        demand((version !== before.get(key)) === isChanged, `${key} has the wrong version ${version}`);
        demand(!isChanged || text === listedText(world, name, aDocument(name, 2)), `${key} comes without its new text`);
      }
      sameNames(documents.map(keyOf), [...texts.keys()], 'a document that changes is still one');
    },
  },
  {
    id: 'removed',
    name: 'lists what was removed no longer, or as deleted, and nothing else is missing',
    async check(world) {
      const texts = await writeAll(world, 3);
      const source = await world.open();
      const held = versionsOf(await list(world, source));
      const [gone = ''] = names(1);
      await world.remove(gone);
      const documents = await list(world, source, held);

      const left = documents.filter(({ isDeleted }) => !isDeleted);
      sameNames(left.map(keyOf), [...texts.keys()].slice(1), 'the listing must hold what is left');
    },
  },
  {
    id: 'bad alone',
    name: 'lists a document that cannot be read with its fault, and all others as ever',
    async check(world) {
      const texts = await writeAll(world, 3);
      const [bad = ''] = names(1);
      const [badKey] = texts.keys();
      const source = await world.open();
      demand(world.spoil, 'the world cannot spoil a document; give an excuse if that cannot be');
      await world.spoil?.(bad);
      const documents = await list(world, source);

      sameNames(documents.map(keyOf), [...texts.keys()], 'the listing must hold the bad one too');
      for (const { key, text, fault } of documents) {
        demand(key !== badKey || fault instanceof Fault, `${key} is bad and has no fault`);
        demand(key === badKey || text === texts.get(key), `${key} suffers from another's fault`);
        demand(!fault?.message.includes(PLANTED_SECRET), 'a fault shows what stands in a document');
      }
    },
  },
  {
    id: 'lists in part',
    name: 'throws rather than listing in part',
    async check(world, { many = 3 }) {
      await writeAll(world, many);
      const source = await world.open();
      demand(world.breakListing, 'the world cannot break a listing; give an excuse if that cannot be');
      await world.breakListing?.();

      await demandFault(list(world, source), 'answered although a part of the listing failed');
    },
  },
  {
    id: 'typed faults',
    name: 'names each failure by what is to be done about it',
    async check(world, { faults = [] }) {
      demand(
        world.fail && faults.length > 0,
        'the world cannot fail in ways it names; give an excuse if that cannot be',
      );
      await writeAll(world, 1);
      const source = await world.open();
      for (const kind of faults) {
        await world.fail?.(kind);
        const fault = await demandFault(list(world, source), `answered although the place failed as ${kind}`);
        demand(fault.kind === kind, `${kind} comes out as ${fault.kind}`);
      }
    },
  },
  {
    id: 'aborted',
    name: 'does not answer a call that was given up before it began',
    async check(world) {
      await writeAll(world, 1);
      const source = await world.open();

      await demandFault(
        world.during(source.documents(NOTHING, AbortSignal.abort())),
        'answered a call that was given up',
      );
    },
  },
  {
    id: 'hangs',
    name: 'ends a call as soon as its signal is aborted, also while the other side does not answer',
    async check(world) {
      await writeAll(world, 1);
      const source = await world.open();
      demand(world.hang, 'the world cannot hang; give an excuse if that cannot be');
      world.hang?.();
      const giveUp = new AbortController();
      const call = source.documents(NOTHING, giveUp.signal);
      const late = Promise.resolve().then(() => giveUp.abort());
      await late;

      await demandFault(world.during(call), 'answered although the other side did not');
    },
  },
  {
    id: 'secrets',
    name: 'keeps what stands in documents out of the log',
    async check(world) {
      await writeAll(world, 3);
      const source = await world.open();
      await list(world, source);
      await world.spoil?.(names(1)[0] ?? '');
      await list(world, source).catch(() => []);
      await world.breakListing?.();
      await list(world, source).catch(() => []);

      demand(!world.logged().includes(PLANTED_SECRET), 'the log shows what stands in a document');
    },
  },
  {
    id: 'reports',
    name: 'reports to the writer of each document, of that one alone, and changes no version by it',
    async check(world) {
      const texts = await writeAll(world, 3);
      const source = await world.open();
      // Where nothing is reported, no writer waits for a report.
      if (!source.report) return;
      demand(world.reported, 'the world cannot show what was reported; give an excuse if that cannot be');
      const before = versionsOf(await list(world, source));
      const [first = '', second = '', third = ''] = names(3);
      const [firstKey = '', secondKey = '', thirdKey = ''] = texts.keys();
      const say = (key: string, phase: DocumentReport['phase'], signal = going()) =>
        world.during(source.report?.(key, { version: before.get(key) ?? '', phase }, signal) ?? Promise.resolve());
      await say(firstKey, 'active');
      await say(firstKey, 'paused');
      await say(firstKey, 'paused');
      await say(secondKey, 'refused');
      await say(thirdKey, 'active', AbortSignal.abort()).catch(() => {});
      const seen = [await world.reported?.(first), await world.reported?.(second), await world.reported?.(third)];
      const after = versionsOf(await list(world, await world.open()));

      demand(seen[0] === 'paused', `the writer sees ${seen[0]} where paused was reported last`);
      demand(seen[1] === 'refused', `the writer of another document sees ${seen[1]}, not refused`);
      demand(seen[2] === undefined, 'a report that was given up before it began has arrived');
      for (const [key, version] of before) {
        demand(after.get(key) === version, `a report changes the version of ${key}: it would be read again and again`);
      }
      const report = { version: 'a version that never was', phase: 'active' } as const;
      await world.during(source.report('a key that never was', report, going()));
    },
  },
  {
    id: 'deleted',
    name: 'lists a deleted document as deleted until its writer hears that the pool is gone, also when opened anew',
    async check(world) {
      const texts = await writeAll(world, 3);
      const source = await world.open();
      if (!source.report) return;
      demand(world.markDeleted, 'the world cannot delete and wait; give an excuse if that cannot be');
      const [name = ''] = names(1);
      const [deletedKey = ''] = texts.keys();
      const held = versionsOf(await list(world, source));
      await world.markDeleted?.(name);
      for (const opened of [source, await world.open()]) {
        const documents = await list(world, opened, held);
        sameNames(documents.map(keyOf), [...texts.keys()], 'the listing must hold the deleted one too');
        for (const { key, isDeleted } of documents) {
          const isRight = (isDeleted === true) === (key === deletedKey);
          demand(isRight, isDeleted ? `${key} is listed as deleted` : `${key} is not listed as deleted`);
        }
      }
      const after = await world.open();
      await world.during(after.report?.(deletedKey, 'gone', going()) ?? Promise.resolve());
      const documents = await list(world, after, held);
      sameNames(documents.map(keyOf), [...texts.keys()].slice(1), 'after gone, the deleted one alone is gone');
      await world.during(after.report?.(deletedKey, 'gone', going()) ?? Promise.resolve());
    },
  },
];
