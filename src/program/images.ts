// Images are built where the command runs: with the programs and the credentials of this machine, with or without a server.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Environment } from '#config/environment.ts';
import { toSnake } from '#config/keys.ts';
import { parseWith } from '#config/parse.ts';
import { problemsFault } from '#config/problem.ts';
import { nodeOf } from '#config/tree.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ImageBuilder, ImageNeed, ImageTarget } from '#core/image-builder.ts';
import { silentLog } from '#core/log.ts';
import { nearest } from '#core/nearest.ts';
import type { AnyKind, Context, Kinds } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { isAlive, processStart } from '#host/processes.ts';
import { openPrograms } from '#host/run-program.ts';
import type { BuildImagesOptions, FoundImages, ImageChoice, ImagesLocal, NamedImageEnd } from '../cli/images-local.ts';
import { openOutbound } from '../edge/outbound.ts';
import { readProxies } from '../edge/proxies.ts';
import { type AgentContent, agentRecipe } from '../images/agent-recipe.ts';
import { buildImage, needsFault } from '../images/build.ts';
import { mustBeRepository, mustBeVersion } from '../images/names.ts';
import { openInstaller } from '../installer/installer.ts';
import { mustRunOn, unameOf } from '../installer/runtime.ts';
import { agentFolder, makeAgentProgram } from './agent-program.ts';
import { loadKinds } from './kinds.ts';
import { cacheFolderIn } from './user-folder.ts';

/** A builder by the name that its users write: `aws-ami`. */
interface Selected {
  readonly name: string;
  readonly builder: ImageBuilder;
}

/** Why one cannot be opened, and what it would lack besides. */
interface Unopened {
  readonly fault: Fault;
  readonly needs: readonly ImageNeed[];
}

interface Selection {
  readonly selected: readonly Selected[];
  readonly unopened: readonly Unopened[];
}

const nameOf = (kind: string): string => toSnake(kind).replaceAll('_', '-');

function contextOf(environment: Environment, version: string): Context {
  const variable = (name: string): string | undefined => environment.variable(name);
  return {
    cluster: 'images',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    ...openOutbound({ proxyFor: readProxies(variable), userAgent: `muster/${version}` }),
    shared: openShared(),
    dataDir: join(cacheFolderIn(environment), 'images'),
    agentCommand: [],
    variable,
    programs: openPrograms({ clock: systemClock, variable }),
  };
}

/** Settings come as texts; one that must be a number, a truth or a list is read as YAML. */
function settingsOf(
  kind: AnyKind<ImageBuilder>,
  { name, isOneOfMany }: { readonly name: string; readonly isOneOfMany: boolean },
  given: Readonly<Record<string, string>>,
): unknown {
  const asTexts = parseWith(kind.config, nodeOf(given), { under: '' });
  if (!asTexts.problems) return asTexts.value;
  const read = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, parse(text)]));
  const { value, problems } = parseWith(kind.config, nodeOf(read), { under: '' });
  if (!problems) return value;
  const key = isOneOfMany ? `${name}.KEY` : 'KEY';
  throw problemsFault(
    problems,
    `image builder ${name}`,
    `Set it with \`--set ${key}=VALUE\`; the reference lists the keys of ${name}.`,
  );
}

const isMany = ({ kinds }: ImageChoice): boolean => kinds.length > 1 || kinds.includes('all');

/** All that keeps a command from starting, in one fault. */
function joinedFault(faults: readonly Fault[]): Fault {
  const [first] = faults as readonly [Fault];
  if (faults.length === 1) return first;
  const remedies = [...new Set(faults.map(({ remedy }) => remedy))];
  const places = faults.flatMap(({ at }) => at ?? []);
  const kind = faults.find((one) => one.kind === 'missing')?.kind ?? first.kind;
  const at = places.length > 0 ? places.join(', ') : undefined;
  return new Fault(kind, faults.map(({ message }) => message).join('\n'), { at, remedy: remedies.join('\n') });
}

/** `key`, or `builder.key`. */
function readSetting(written: string): { readonly builder: string | undefined; readonly key: string } {
  const [first = '', ...rest] = written.split('.');
  return rest.length > 0
    ? { builder: first.replaceAll('_', '-'), key: rest.join('.') }
    : { builder: undefined, key: first };
}

/** `--set key=value` is for the one builder that is named; with several each key begins with the name of its own. */
function settingsFor(name: string, { set = {} }: Pick<ImageChoice, 'set'>): Readonly<Record<string, string>> {
  const own = Object.entries(set).flatMap(([written, text]) => {
    const { builder = name, key } = readSetting(written);
    return builder === name ? [[key, text] as const] : [];
  });
  return Object.fromEntries(own);
}

/** Every setting is for one of these builders. */
function mustFit(choice: ImageChoice, names: readonly string[]): void {
  for (const [written, text] of Object.entries(choice.set ?? {})) {
    const { builder, key } = readSetting(written);
    if (builder === undefined && isMany(choice))
      throw new Fault('invalid', `--set ${key} does not say which builder it is for.`, {
        remedy: `Write it like --set ${names[0]}.${key}=${text}.`,
      });
    if (builder === undefined || names.includes(builder)) continue;
    const meant = nearest(builder, names);
    throw new Fault('invalid', `--set ${written} is for ${builder}, which this command does not ask.`, {
      remedy: meant === undefined ? `It asks ${names.join(', ')}.` : `Did you mean ${meant}.${key}?`,
    });
  }
}

/** Why a builder cannot be opened, in the words of its users: of several it is named, and a setting is an option. */
function openingFault(thrown: unknown, name: string, isOneOfMany: boolean): Fault {
  const { kind, message, at, remedy } = Fault.from(thrown);
  if (message.includes(name)) return Fault.from(thrown);
  const option = at && `--set ${isOneOfMany ? `${name}.` : ''}${at}`;
  return new Fault(kind, isOneOfMany ? `${name}: ${message}` : message, { at: option, remedy, cause: thrown });
}

function kindNamed(all: Kinds<ImageBuilder>, name: string): AnyKind<ImageBuilder> {
  const found = Object.entries(all).find(([key]) => nameOf(key) === name.replaceAll('_', '-'))?.[1];
  if (found) return found;
  const names = Object.keys(all).map(nameOf);
  const meant = nearest(name, names);
  const remedy = meant === undefined ? `Name one of ${names.join(', ')}, or all.` : `Did you mean ${meant}?`;
  throw new Fault('invalid', `There is no image builder ${name}.`, { remedy });
}

const namesOf = (all: Kinds<ImageBuilder>, { kinds }: Pick<ImageChoice, 'kinds'>): readonly string[] =>
  kinds.includes('all') ? Object.keys(all).map(nameOf) : [...new Set(kinds.map((kind) => kind.replaceAll('_', '-')))];

/** What the agent is packed from, in the form that the images of this builder take. */
async function agentFor(
  { form, machine }: ImageTarget,
  { cache, version, runtimes }: { cache: string; version: string; runtimes: Readonly<Record<string, string>> },
): Promise<AgentContent> {
  const bundle = await makeAgentProgram(cache, version);
  if (form === 'container') return { bundle };
  const own = { platform: `${process.platform}-${process.arch}`, path: process.execPath };
  const named = Object.entries(runtimes).map(([platform, path]) => ({ platform, path }));
  const runtime = [...named, own].find(({ platform }) => {
    const { system, machine: found } = unameOf(platform);
    return system === 'Linux' && found === machine;
  });
  if (!runtime)
    throw new Fault('invalid', `The image is for Linux on ${machine}, and this machine has no Node for that.`, {
      at: '--node',
      remedy: 'Name one: --node linux-x64=PATH or --node linux-arm64=PATH, the executable of Node for Linux.',
    });
  mustRunOn(runtime);
  const folder = agentFolder(cache);
  const installer = openInstaller({
    bundle,
    folder,
    runtimes: [runtime],
    facts: () => ({ broker: '', otherBrokers: [], brokerCa: undefined, originCa: undefined }),
  });
  await installer.offer();
  const [archive] = installer.offered() ?? [];
  if (!archive) throw new Fault('internal', 'The agent was not packed.');
  return { archive: { path: join(folder, archive.name), sha256: archive.sha256 } };
}

/** What it takes to build images on this machine. */
export function imagesPart(environment: Environment, packageVersion: string): ImagesLocal {
  const cache = cacheFolderIn(environment);

  const kindsOf = async (plugins: readonly string[] = []): Promise<Kinds<ImageBuilder>> =>
    (await loadKinds(plugins)).images ?? {};

  /** Those that can be opened, and why others cannot. */
  async function select(choice: ImageChoice): Promise<Selection> {
    const all = await kindsOf(choice.plugins);
    const names = namesOf(all, choice);
    const context = contextOf(environment, packageVersion);
    const opened = await Promise.all(
      names.map(async (name): Promise<Selected | Unopened> => {
        let kind: AnyKind<ImageBuilder> | undefined;
        try {
          kind = kindNamed(all, name);
          const settings = settingsOf(kind, { name, isOneOfMany: isMany(choice) }, settingsFor(name, choice));
          return { name, builder: await kind.open(settings, context) };
        } catch (thrown) {
          return { fault: openingFault(thrown, name, isMany(choice)), needs: kind?.needs?.(context) ?? [] };
        }
      }),
    );
    return {
      selected: opened.flatMap((one) => ('fault' in one ? [] : [one])),
      unopened: opened.flatMap((one) => ('fault' in one ? [one] : [])),
    };
  }

  /** Asks all of them before any of them starts, also those that lack a setting. */
  async function needsOf({ selected, unopened }: Selection, signal: AbortSignal): Promise<readonly Fault[]> {
    const needs = await Promise.all(selected.map(({ builder }) => builder.needs(signal)));
    const missing = [...needs, ...unopened.map((one) => one.needs)].flat();
    // Builders of one engine miss the same, as those that use one program do.
    const distinct = missing.filter(({ why }, at) => missing.findIndex((one) => one.why === why) === at);
    return distinct.length > 0 ? [needsFault(distinct)] : [];
  }

  async function selectAll(choice: ImageChoice, signal: AbortSignal): Promise<readonly Selected[]> {
    mustFit(choice, namesOf(await kindsOf(choice.plugins), choice));
    const selection = await select(choice);
    const all = [...(await needsOf(selection, signal)), ...selection.unopened.map(({ fault }) => fault)];
    if (all.length > 0) throw joinedFault(all);
    return selection.selected;
  }

  /** One that is named alone. */
  async function selectOne(choice: ImageChoice): Promise<Selected> {
    const { selected, unopened } = await select(choice);
    const [first] = selected;
    if (!first) throw unopened[0]?.fault ?? new Fault('internal', 'No image builder was named.');
    return first;
  }

  async function buildOne(
    { name, builder }: Selected,
    { version: given, push, node = {}, output, signal }: BuildImagesOptions,
  ): Promise<NamedImageEnd> {
    const version = given ?? packageVersion;
    const startedAt = systemClock.now();
    output.begin(name);
    try {
      const target = await builder.target(signal);
      const recipe = agentRecipe(
        version,
        target,
        await agentFor(target, { cache, version: packageVersion, runtimes: node }),
      );
      const runner = { pid: process.pid, start: processStart(process.pid) ?? '' };
      const place = { clock: systemClock, random: systemRandom, folder: join(cache, 'builds'), runner, isAlive };
      const end = await buildImage({ builder, recipe, push: builder.push ? push : undefined }, place, output, signal);
      return { ...end, builder: name, cloud: builder.cloud, version, recipe: recipe.hash };
    } catch (thrown) {
      const endedAt = systemClock.now();
      const fault = Fault.from(thrown);
      return { builder: name, cloud: builder.cloud, version, isBuilt: false, fault, startedAt, endedAt, log: [] };
    }
  }

  /** What keeps one builder from answering is no concern of the others. */
  async function listOne(name: string, choice: ImageChoice, signal: AbortSignal): Promise<FoundImages> {
    try {
      const { builder } = await selectOne({ ...choice, kinds: [name], set: settingsFor(name, choice) });
      const { cloud } = builder;
      const [need] = await builder.needs(signal);
      if (need) throw needsFault([need]);
      const images = await builder.list(signal);
      return { builder: name, cloud, images: images.map((image) => ({ ...image, builder: name, cloud })) };
    } catch (thrown) {
      return { builder: name, images: [], fault: Fault.from(thrown) };
    }
  }

  function mustPush(selected: readonly Selected[], push: string | undefined): void {
    if (push === undefined || selected.some(({ builder }) => builder.push)) return;
    throw new Fault('invalid', `The images of ${selected.map(({ name }) => name).join(', ')} go to no registry.`, {
      at: '--push',
      remedy: 'Leave out --push: such an image is where its machines start.',
    });
  }

  return {
    host: hostname(),
    async kinds(plugins) {
      return Object.entries(await kindsOf(plugins)).map(([key, { summary }]) => ({ name: nameOf(key), summary }));
    },
    async build(options) {
      mustBeVersion(options.version ?? packageVersion);
      if (options.push !== undefined) mustBeRepository(options.push);
      const selected = await selectAll(options, options.signal);
      mustPush(selected, options.push);
      const ends: NamedImageEnd[] = [];
      for (const one of selected) {
        if (options.signal.aborted) break;
        const end = await buildOne(one, options);
        ends.push(end);
        await options.ended?.(end);
      }
      for (const { builder } of selected) await builder.close?.();
      return ends;
    },
    async list(choice, signal) {
      const all = await kindsOf(choice.plugins);
      const names = namesOf(all, choice);
      mustFit(choice, names);
      return Promise.all(names.map((name) => listOne(name, choice, signal)));
    },
    async drop(image, choice, signal) {
      const { builder } = await selectOne({ ...choice, kinds: [image.builder] });
      await builder.drop(image, signal);
    },
  };
}
