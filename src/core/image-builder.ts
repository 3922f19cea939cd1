import { hash } from 'node:crypto';
import { Fault } from './fault.ts';

/** The name of the images of our agent; its version is the other part of what they are referred to by. */
export const AGENT_IMAGE = 'muster-agent';

/** What to do where no image of the agent is found that this builder makes; `places` are settings of it. */
export const buildFirst = (builder: string, places: Readonly<Record<string, string>> = {}): string => {
  const set = Object.entries(places).map(([key, value]) => ` --set ${key}=${value}`);
  return `Build it: \`muster image build ${builder}${set.join('')}\`.`;
};

/** A file of an image. */
export interface RecipeFile {
  /** Where it is in the image, from the root. */
  readonly path: string;
  readonly mode: number;
  /** Its content: a text, or a file of this machine. An archive (`tar.gz`) is unpacked at `path`, which is then a folder. */
  readonly from:
    | { readonly text: string }
    | { readonly file: string; readonly sha256: string }
    | { readonly archive: string; readonly sha256: string };
}

/** All that forms an image, apart from where and how it is built. It holds no secret. */
export interface RecipeParts {
  readonly name: string;
  readonly version: string;
  /** What it starts from, in the words of its builder: `debian:bookworm-slim`, `debian-cloud/debian-12`. */
  readonly base: string;
  readonly files: readonly RecipeFile[];
  /** Run by `/bin/sh -eu` as root, one after the other, once the files are there. */
  readonly steps: readonly string[];
  /** Ports that a container of it serves. */
  readonly ports: readonly number[];
  /** The program of a container and its first arguments; empty for machines, which boot. */
  readonly entry: readonly string[];
}

/** What an image is built from; equal recipes have equal hashes, on every machine. */
export interface Recipe extends RecipeParts {
  readonly hash: string;
}

// Goes up when builders make something else of an equal recipe.
const FORMAT = 1;

const HASH_LENGTH = 40;

const contentOf = ({ from }: RecipeFile): readonly string[] => {
  if ('text' in from) return ['text', from.text];
  return ['archive' in from ? 'archive' : 'file', from.sha256];
};

/** Covers all that forms the image: of a file of this machine its content, never its place. */
export function recipeHash({ name, version, base, files, steps, ports, entry }: RecipeParts): string {
  const byPath = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const held = byPath.map((file) => [file.path, file.mode, ...contentOf(file)]);
  return hash('sha256', JSON.stringify([FORMAT, name, version, base, held, steps, ports, entry])).slice(0, HASH_LENGTH);
}

export const recipeOf = (parts: RecipeParts): Recipe => ({ ...parts, hash: recipeHash(parts) });

/** What a builder's images are, and so what a recipe for it has to hold. */
export interface ImageTarget {
  /** A `container` starts its entry. A `machine` boots, and learns at its first boot which agent it is. */
  readonly form: 'container' | 'machine';
  readonly base: string;
  /** As `uname -m` prints it there: `x86_64`, `aarch64`. */
  readonly machine: string;
}

/** An image that is there. */
export interface BuiltImage {
  readonly name: string;
  readonly version: string;
  /** Hash of its recipe. */
  readonly recipe: string;
  /** Its id by region; by `''` where its place has no regions. */
  readonly ids: Readonly<Record<string, string>>;
  /** What a pool or computer names it by: `muster-agent:1.2.0`, `muster-agent-1.2.0-0a1b2c3d`. */
  readonly reference: string;
  readonly builtAt: number;
}

/** Something that a build needs and this machine lacks. */
export interface ImageNeed {
  readonly program: string;
  /** One sentence. */
  readonly why: string;
  /** How to get it: one sentence with a command or an address. */
  readonly get: string;
}

/** Marks all that a build makes on its way: machine, key, group, disk. */
export interface BuildMark {
  readonly id: string;
  readonly startedAt: number;
}

/** One build as its builder gets it. */
export interface BuildRun extends BuildMark {
  /** A folder of its own, mode 0700, which holds `files` of the recipe; it is gone after the build. */
  readonly folder: string;
  /** A part of the build begins: `RUN apt-get …`, `creating the machine`. */
  step(title: string): void;
  /** One line of its output, as it comes. It holds no secret. */
  line(text: string): void;
}

/** Builds images at one place: an engine, an account. It runs where the command runs. */
export interface ImageBuilder {
  /** Where its images are: `docker unix:///var/run/docker.sock`, `aws us-west-2`. It names the account, never the credential. */
  readonly cloud: string;
  /** What shares a rate budget and a credential; absent: its cloud. */
  readonly account?: string | undefined;
  /** What this machine lacks; empty: it can build. Asked before anything starts, also before that of any other builder. */
  needs(signal: AbortSignal): Promise<readonly ImageNeed[]>;
  target(signal: AbortSignal): Promise<ImageTarget>;
  /** What it works from, by file name: a Dockerfile, templates. Pure, written anew for each build, and without any secret. */
  files(recipe: Recipe): Readonly<Record<string, string>>;
  /** The image of an equal recipe under its name and version, where there is one: whole, and in every region that it is wanted in. */
  find(recipe: Recipe, signal: AbortSignal): Promise<BuiltImage | undefined>;
  /**
   * Builds it, and replaces none that is in use. All that it makes on its way bears the mark of the run. A build that
   * fails or is given up leaves neither image nor anything else, and throws: `stepFailed` where a step of the recipe did.
   */
  build(recipe: Recipe, run: BuildRun, signal: AbortSignal): Promise<BuiltImage>;
  /** All images of ours, the newest first. */
  list(signal: AbortSignal): Promise<readonly BuiltImage[]>;
  /** Absent is a success. One that bears no mark of ours is refused. */
  drop(image: BuiltImage, signal: AbortSignal): Promise<void>;
  /** Copies it to a registry under that name, `HOST/NAME`, and answers what it is there; absent: its images are where they are used. */
  push?(image: BuiltImage, to: string, run: Pick<BuildRun, 'line'>, signal: AbortSignal): Promise<BuiltImage>;
  /**
   * Removes what builds have left that are over, as `isOver` says of each mark that it finds: after kill -9 nothing else
   * does. Answers the names of what it removed. Absent: a build of it leaves nothing, however it ends.
   */
  clean?(isOver: (mark: BuildMark) => boolean, signal: AbortSignal): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** The fault of a build whose recipe has a step that failed; who runs the build adds the last lines of its output. */
export const stepFailed = (recipe: Recipe, at: number, code: number | undefined): Fault =>
  new Fault(
    'invalid',
    `Step ${at} of ${recipe.steps.length} ${code === undefined ? 'did not end by itself' : `ended with exit code ${code}`}: ${recipe.steps[at - 1] ?? ''}`,
    { at: `steps[${at - 1}]`, remedy: 'Correct the step, or what it asks for; its output says why.' },
  );
