import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Cli, CliCommand, Local } from './command.ts';
import { formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { endLine, imageFacts, imageListing, printedOutput, shownImage } from './image-text.ts';
import type { FoundImage, ImageChoice, NamedImageEnd } from './images-local.ts';
import { nounCommand } from './noun.ts';
import { named, pair } from './option.ts';
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
  const ends = await local.images.build({ ...choice, version, push, node, output, signal: cli.signal });
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

/** All images that builders of this machine can see; why others cannot answer is said beside them. */
async function found(cli: Cli, local: Local, choice: ImageChoice): Promise<readonly FoundImage[]> {
  const all = await local.images.list(choice, cli.signal);
  const failed = all.filter(({ fault }) => fault !== undefined);
  const [first] = failed;
  if (first?.fault && failed.length === all.length) throw first.fault;
  const isAsked = !choice.kinds.includes('all');
  for (const { builder, fault } of failed)
    if (isAsked) remark(cli.terminal, `${builder} is not listed: ${fault?.message.split('\n')[0]}`);
  // One engine may have two builders: each image once.
  const images = all.flatMap((one) => one.images);
  const keyOf = ({ cloud, reference }: FoundImage): string => `${cloud} ${reference}`;
  return images.filter((image, at) => images.findIndex((one) => keyOf(one) === keyOf(image)) === at);
}

const asked = (kinds: readonly string[]): readonly string[] => (kinds.length === 0 ? ['all'] : kinds);

function listCommand(cli: Cli, local: Local): Command {
  return withChoice(showing('ls', 'list the images that builders of this machine can see', LIST_FORMATS))
    .alias('list')
    .argument('[builders...]', 'ask only these')
    .action(async (kinds: string[], options: ChoiceOptions, command: Command) => {
      const images = await found(cli, local, choiceOf(options, asked(kinds)));
      const nowMs = cli.terminal.clock.now();
      const format = formatOf(command);
      const text =
        format === 'json' || format === 'yaml'
          ? show(images.map(shownImage), format, () => '')
          : showList(images, format, imageListing(nowMs));
      print(cli.terminal, text);
    });
}

/** By its whole name, or by what stands before its recipe. */
async function imageNamed(cli: Cli, local: Local, name: string, choice: ImageChoice): Promise<FoundImage> {
  const images = await found(cli, local, choice);
  const one = images.find(({ reference }) => reference === name);
  const others = images.filter((image) => `${image.name}:${image.version}` === name);
  if (one) return one;
  if (others.length === 1) return others[0] as FoundImage;
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

function showCommand(cli: Cli, local: Local): Command {
  return withImage(showing('show', 'show one image')).action(
    async (name: string, kind: string | undefined, options: ChoiceOptions, command: Command) => {
      const image = await imageNamed(cli, local, name, choiceOf(options, asked(kind ? [kind] : [])));
      print(
        cli.terminal,
        show(shownImage(image), formatOf(command), () => imageFacts(image)),
      );
    },
  );
}

function removeCommand(cli: Cli, local: Local): Command {
  return withImage(new Command('rm').description('remove an image that Muster built')).action(
    async (name: string, kind: string | undefined, options: ChoiceOptions) => {
      const { set, plugins, kinds } = choiceOf(options, asked(kind ? [kind] : []));
      const image = await imageNamed(cli, local, name, { set, plugins, kinds });
      await local.images.drop(image, { set, plugins }, cli.signal);
      print(cli.terminal, `Image ${image.reference} (${image.builder}) is removed.`);
    },
  );
}

function imageCommand(cli: Cli, local: Local): Command {
  const image = nounCommand('image', 'images of the agent: build them here, for the places where machines start', [
    buildCommand(cli, local),
    listCommand(cli, local),
    showCommand(cli, local),
    removeCommand(cli, local),
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
