// What Packer works from. `build.pkr.hcl` has all that Packer 1.6 knows; the block `required_plugins` that newer versions
// want stands in a file of its own, because 1.6 refuses a file that has it.
import type { Recipe } from '#core/image-builder.ts';
import { type Block, blocksText, type HclValue, templated } from './hcl.ts';
import { fileName, placeScript, type Sealing, sealScript, stepName, UPLOADS } from './scripts.ts';

export const BUILD_FILE = 'build.pkr.hcl';
export const PLUGINS_FILE = 'plugins.pkr.hcl';
/** What differs from build to build: names and tags with the mark. */
export const VARIABLES_FILE = 'build.pkrvars.json';

export interface PackerSource {
  /** As Packer names the builder: `amazon-ebs`. */
  readonly builder: string;
  readonly plugin: { readonly source: string; readonly version: string };
  /** By name: their types. Those that are secret come by the environment alone. */
  readonly variables: Readonly<Record<string, { readonly type: string; readonly isSecret?: true }>>;
  readonly values: Readonly<Record<string, HclValue | undefined>>;
  readonly blocks?: readonly Block[];
  readonly sealing: Sealing;
}

const SOURCE = 'image';

function variableBlock([name, { type, isSecret }]: [string, PackerSource['variables'][string]]): Block {
  const values = { type: { verbatim: type }, ...(isSecret && { default: '', sensitive: true }) };
  return { type: 'variable', labels: [name], values };
}

/** Runs a script as root, under any user that Packer has logged in as, and says how it ended. */
function shell(script: string, what: string): Block {
  const ended = `code=$?; echo "muster: ${what} ended with exit code $code"; exit $code`;
  const command = `as=; [ "$(id -u)" = 0 ] || as='sudo -n'; echo 'muster: ${what}'; $as /bin/sh -eu '{{ .Path }}'; ${ended}`;
  return { type: 'provisioner', labels: ['shell'], values: { script, execute_command: templated(command) } };
}

/** Any user that Packer has logged in as may write there. */
const uploads: Block = {
  type: 'provisioner',
  labels: ['shell'],
  values: { inline: [`mkdir -m 0700 -p ${UPLOADS}`], inline_shebang: '/bin/sh -eu' },
};

function provisioners({ files, steps }: Recipe): Block[] {
  const upload = files.map((_file, at) => ({
    type: 'provisioner',
    labels: ['file'],
    values: { source: fileName(at), destination: `${UPLOADS}/${fileName(at)}` },
  }));
  return [
    ...(files.length > 0 ? [uploads, ...upload, shell('place.sh', 'files')] : []),
    ...steps.map((_step, at) => shell(stepName(at), `step ${at + 1} of ${steps.length}`)),
    shell('seal.sh', 'seal'),
  ];
}

/** All files of a build that are texts, by name. */
export function packerFiles(recipe: Recipe, source: PackerSource): Readonly<Record<string, string>> {
  const { builder, plugin, variables, values, blocks, sealing } = source;
  const name = plugin.source.slice(plugin.source.lastIndexOf('/') + 1);
  const build = {
    type: 'build',
    values: { sources: [`source.${builder}.${SOURCE}`] },
    blocks: provisioners(recipe),
  };
  const required = {
    type: 'packer',
    blocks: [{ type: 'required_plugins', values: { [name]: { ...plugin } } }],
  };
  const texts = recipe.files.flatMap(({ from }, at) => ('text' in from ? [[fileName(at), from.text] as const] : []));
  return {
    [BUILD_FILE]: blocksText([
      ...Object.entries(variables).map(variableBlock),
      { type: 'source', labels: [builder, SOURCE], values, blocks: blocks ?? [] },
      build,
    ]),
    [PLUGINS_FILE]: blocksText([required]),
    ...Object.fromEntries(texts),
    ...(recipe.files.length > 0 && { 'place.sh': placeScript(recipe) }),
    ...Object.fromEntries(recipe.steps.map((step, at) => [stepName(at), `${step}\n`])),
    'seal.sh': sealScript(sealing),
  };
}
