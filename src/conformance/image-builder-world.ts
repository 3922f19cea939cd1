import type { FaultKind } from '#core/fault.ts';
import type { BuildMark, BuiltImage, ImageBuilder } from '#core/image-builder.ts';
import type { ProgramCall } from '#core/programs.ts';
import type { AnyKind } from '#core/provider.ts';

/** One place of its own where images are built, seen from both sides. */
export interface ImageBuilderWorld {
  /** Opens the kind there: again and again, as each command does. Its `variable` answers every name. */
  open(): Promise<ImageBuilder>;
  /** Lets time pass until nothing happens there any more. */
  settle(): Promise<void>;
  /** Awaits a call while time passes in the world; with a real clock, simply awaits it. */
  during<T>(call: Promise<T>): Promise<T>;
  /** The images that exist there, of whomever, by what they are referred to. */
  images(): readonly string[];
  /** All else that exists there: containers, machines, keys, groups, disks. */
  others(): readonly string[];
  /** How many builds were begun there. */
  builds(): number;
  /** The programs that it ran, with all that they found in their environment. */
  ran(): readonly ProgramCall[];
  /** Puts images there that are not ours, one of them under a name like ours; answers what a careless builder takes that one for. */
  addForeign(): Promise<BuiltImage>;
  /** From now on the engine or program that it needs is missing. */
  lack(): void;
  /** From now on this step of each recipe, counted from 1, prints these lines and ends with this exit code. */
  failStep(at: number, code: number, lines: readonly string[]): void;
  /** What a build of that mark leaves when it is killed in its middle. */
  abandon?(mark: BuildMark): Promise<void>;
  /** The images of the registry that it pushes to, by their references. */
  pushed?(): readonly string[];
  /** From now on the registry refuses, in these words. */
  refusePush?(words: string): void;
  /** From now on every call fails in this way. */
  fail(kind: FaultKind): void;
  /** From now on no call is answered, and no build ends. */
  hang(): void;
  close(): Promise<void>;
}

export type ImageBuilderLawId =
  | 'needs'
  | 'files'
  | 'absent'
  | 'builds'
  | 'found'
  | 'tells apart'
  | 'replaces'
  | 'failed step'
  | 'aborted'
  | 'lists'
  | 'drops'
  | 'only ours'
  | 'pushes'
  | 'push refused'
  | 'cleans'
  | 'own variables'
  | 'no secrets'
  | 'typed faults';

/** How the suite gets at a kind. */
export interface ImageBuilderHarness {
  readonly kind: AnyKind<ImageBuilder>;
  /** A new place for each law. */
  openWorld(): Promise<ImageBuilderWorld>;
  /** The environment variables that the programs of this kind may find, beside those that every program does. */
  readonly variables?: readonly string[];
  /** What no program is told in its arguments, no file holds and no line shows. */
  readonly secrets?: readonly string[];
  /** The registry that `push` may use: `registry.test/team/agent`. */
  readonly registry?: string;
  /** The failures that this place knows, each of which must come out as what it is. */
  readonly faults?: readonly FaultKind[];
  /** Laws that cannot hold or cannot be tried for this kind, with the reason. */
  readonly excuses?: Readonly<Partial<Record<ImageBuilderLawId, string>>>;
}

/** All that the laws need; the kind itself is checked apart. */
export type ImageBuilderSubject = Omit<ImageBuilderHarness, 'kind'>;
