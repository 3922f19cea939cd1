import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { ImageBuild, ImageBuildWithLog } from '../api/wire/image.ts';
import type { Cli, CliCommand, Local } from './command.ts';
import { clientOf, formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { forgetRecord, recordBuild } from './image-records.ts';
import { buildListing, endLine, imageFacts, imageListing, printedImage, printedOutput } from './image-text.ts';
import type { ImageChoice, NamedImageEnd } from './images-local.ts';
import { type KnownImage, knownImages } from './known-images.ts';
import { nounCommand, showCommand } from './noun.ts';
import { named, pair, whole } from './option.ts';
import { LIST_FORMATS, show, showList } from './show.ts';
import { print, remark } from './terminal.ts';

interface ChoiceOptions {
  readonly set?: Readonly<Record<string, string>>;
  readonly plugin?: readonly string[];
}

interface BuildOptions extends ChoiceOptions {
  readonly version?: string;
  readonly push?: string;
  readonly node?: Readonly<Record<string, string>>;
}

const IMAGE = '<image>';

const choiceOf = ({ set, plugin }: ChoiceOptions, kinds: readonly string[]): ImageChoice => ({
  kinds,
  set,
  plugins: plugin,
});

const withChoice = (command: Command): Command =>
  command
    .option('--set <key=value>', 'a setting of the builder; may be repeated', pair('--set'))
    .option(
      '--plugin <package>',
      'a package that has a builder of your own; may be repeated',
      (text: string, before: readonly string[] = []) => [...before, named('--plugin')(text)],
    );

function shownEnd({ builder, version, isBuilt, image, fault }: NamedImageEnd) {
  const found = image && { reference: image.reference, recipe: image.recipe, ids: image.ids };
  return { builder, version, built: isBuilt, ...found, ...(fault && { error: fault.message }) };
}

/** The first fault ends the command; the others are said before. */
function throwFirst(cli: Cli, ends: readonly NamedImageEnd[]): void {
  const failed = ends.filter(({ fault }) => fault !== undefined);
  for (const { builder, fault } of failed.slice(1)) remark(cli.terminal, `${builder}: ${fault?.message}`);
  const [first] = failed;
  if (!first?.fault) return;
  const { builder, fault } = first;
  const { kind, message, at, remedy } = fault;
  throw new Fault(kind, ends.length > 1 ? `${builder}: ${message}` : message, { at, remedy, cause: fault });
}

async function build(cli: Cli, local: Local, kinds: readonly string[], options: BuildOptions, command: Command) {
  const { version, push, node } = options;
  const isOneOfMany = kinds.length > 1 || kinds.includes('all');
  const output = printedOutput(cli.terminal, isOneOfMany);
  const choice = choiceOf(options, kinds);
  let unrecorded: Fault | undefined;
  const ended = async (end: NamedImageEnd): Promise<void> => {
    unrecorded ??= await recordBuild(cli, command, { end, host: local.images.host });
  };
  const ends = await local.images.build({ ...choice, version, push, node, output, ended, signal: cli.signal });
  if (unrecorded) remark(cli.terminal, `The server keeps no record of this build: ${unrecorded.message}`);
  const made = ends.filter(({ image, fault }) => image && !fault);
  const text = (): string => made.map(endLine).join('\n');
  if (formatOf(command) !== 'table' || made.length > 0)
    print(cli.terminal, show(ends.map(shownEnd), formatOf(command), text));
  throwFirst(cli, ends);
}

const withBuildOptions = (command: Command): Command =>
  withChoice(
    command
      .option('--version <version>', 'version of the image (default: that of this Muster)', named('--version'))
      .option('--push <host/name>', 'also copy the container image to this registry', named('--push'))
      .option('--node <system=file>', 'Node for images of another machine: linux-arm64=FILE', pair('--node')),
  );

function buildCommand(cli: Cli, local: Local): Command {
  const command = withBuildOptions(showing('build', 'build images of the agent, on this machine'))
    .argument('<builders...>', 'docker, kubernetes, aws-ami, azure-vm, gcp-vm, one of your own, or all')
    .action((kinds: string[], options: BuildOptions, self: Command) => build(cli, local, kinds, options, self));
  return withExamples(command, [
    ['muster image build docker', 'by the Docker engine of this machine'],
    ['muster image build docker --push registry.example.com/team/muster-agent', 'and copy it to a registry'],
    ['muster image build aws-ami gcp-vm --version 1.2.0', 'by Packer, with the credentials of this shell'],
    ['muster image build all', 'all of them; none starts before all can'],
  ]);
}

const asked = (kinds: readonly string[]): readonly string[] => (kinds.length === 0 ? ['all'] : kinds);

function listCommand(cli: Cli, local: Local): Command {
  return withChoice(
    showing('ls', 'list images: those seen from this machine, and those that the server knows', LIST_FORMATS),
  )
    .alias('list')
    .argument('[builders...]', 'ask only these')
    .action(async (kinds: string[], options: ChoiceOptions, command: Command) => {
      const images = await knownImages(cli, local, choiceOf(options, asked(kinds)), command);
      const nowMs = cli.terminal.clock.now();
      const format = formatOf(command);
      const text =
        format === 'json' || format === 'yaml'
          ? show(images.map(printedImage), format, () => '')
          : showList(images, format, imageListing(nowMs));
      print(cli.terminal, text);
    });
}

/** By its whole name, by what stands before its recipe, or by its name alone. */
function imageNamed(images: readonly KnownImage[], name: string): KnownImage {
  const one = images.find(({ reference }) => reference === name);
  const others = images.filter((image) => [`${image.name}:${image.version}`, image.name].includes(name));
  if (one) return one;
  if (others.length === 1) return others[0] as KnownImage;
  if (others.length === 0)
    throw new Fault('missing', `There is no image ${name}.`, { remedy: 'List images with `muster image ls`.' });
  throw new Fault('conflict', `${name} is the name of several images.`, {
    remedy: `Name one of ${others.map(({ reference }) => reference).join(', ')}, or its builder.`,
  });
}

const withImage = (command: Command): Command =>
  withChoice(command)
    .argument(IMAGE, 'as `muster image ls` shows it: muster-agent:1.2.0', named(IMAGE))
    .argument('[builder]', 'where several builders have one of that name');

function showImageCommand(cli: Cli, local: Local): Command {
  return withImage(showing('show', 'show one image')).action(
    async (name: string, kind: string | undefined, options: ChoiceOptions, command: Command) => {
      const image = imageNamed(
        await knownImages(cli, local, choiceOf(options, asked(kind ? [kind] : [])), command),
        name,
      );
      print(
        cli.terminal,
        show(printedImage(image), formatOf(command), () => imageFacts(image)),
      );
    },
  );
}

/** An image that only another machine sees can be removed there alone. */
function mustBeHere({ isHere, reference, builder, record }: KnownImage): void {
  if (isHere) return;
  throw new Fault(
    'unsupported',
    `${reference} was built by ${builder} on ${record?.host}, and is not seen from here.`,
    {
      remedy: 'Run the command there, or drop the record of the server alone with --forget.',
    },
  );
}

function removeCommand(cli: Cli, local: Local): Command {
  return withImage(new Command('rm').description('remove an image that Muster built, and the record of it'))
    .option('--forget', 'drop only the record of the server, where the image is gone or on another machine')
    .action(
      async (
        name: string,
        kind: string | undefined,
        options: ChoiceOptions & { forget?: boolean },
        command: Command,
      ) => {
        const choice = choiceOf(options, asked(kind ? [kind] : []));
        const image = imageNamed(await knownImages(cli, local, choice, command), name);
        const { reference, builder, record } = image;
        if (!options.forget) {
          mustBeHere(image);
          const { set, plugins } = choice;
          await local.images.drop(image, { set, plugins }, cli.signal);
        }
        const fault = record && (await forgetRecord(cli, command, record.id));
        if (fault && options.forget) throw fault;
        if (fault) remark(cli.terminal, `The server keeps its record: ${fault.message}`);
        print(cli.terminal, `Image ${reference} (${builder}) is ${options.forget ? 'forgotten' : 'removed'}.`);
      },
    );
}

function buildsCommand(cli: Cli): Command {
  return showing('builds', 'list builds that the server has a record of, the newest first', LIST_FORMATS)
    .argument('[image]', 'only those of this image')
    .option('-n, --limit <count>', 'how many (default: 20)', whole('--limit', 1))
    .action(async (image: string | undefined, { limit = 20 }: { limit?: number }, command: Command) => {
      const builds = await clientOf(cli, command).list<ImageBuild>('/image-builds', { image }, limit);
      print(cli.terminal, showList(builds, formatOf(command), buildListing(cli.terminal.clock.now())));
    });
}

const logCommand = (cli: Cli): Command =>
  showCommand<ImageBuildWithLog>(cli, {
    name: 'log',
    summary: 'print the output of a build, as the server keeps it',
    of: '<build>',
    read: (client, id) => client.call<ImageBuildWithLog>(`/image-builds/${encodeURIComponent(id)}`),
    text: ({ log, error }) => [log, error].filter(Boolean).join('\n'),
  });

function imageCommand(cli: Cli, local: Local): Command {
  const image = nounCommand('image', 'build images of the agent for different platforms; list and remove them', [
    buildCommand(cli, local),
    listCommand(cli, local),
    showImageCommand(cli, local),
    removeCommand(cli, local),
    buildsCommand(cli),
    logCommand(cli),
  ]);
  return withExamples(image, [
    ['muster image build docker', 'the image that local computers start from'],
    ['muster image ls', 'what was built'],
  ]);
}

/** The commands of seed 004, at the top level. */
const SHORT: readonly (readonly [name: string, kind: string, what: string])[] = [
  ['build-docker-image', 'docker', 'build the container image of the agent'],
  ['build-aws-ami', 'aws-ami', 'build an AMI with the agent, by Packer'],
  ['build-azure-vm', 'azure-vm', 'build an image for Azure VMs, by Packer'],
  ['build-gcp-vm', 'gcp-vm', 'build an image for Compute Engine, by Packer'],
  ['build-kubernetes-image', 'kubernetes', 'build the image that pods and Deployments run'],
  ['build-all-images', 'all', 'build the images for all platforms'],
];

const FIRST_ORDER = 65;

const short: readonly CliCommand[] = SHORT.map(([name, kind, what], at) => ({
  name,
  order: FIRST_ORDER + (at + 1) / 10,
  make: (cli, local) =>
    withBuildOptions(showing(name, what)).action((options: BuildOptions, command: Command) =>
      build(cli, local, [kind], options, command),
    ),
}));

export const commands: readonly CliCommand[] = [{ name: 'image', order: FIRST_ORDER, make: imageCommand }, ...short];
