// What the server knows of images: it builds none itself, it keeps records of those that commands have built, and their logs.
// What is merged into below must be part of every program that reads this file.
import type {} from './feature.ts';
import type { BuiltImage } from './image-builder.ts';
import type { Actor } from './journal.ts';
import { type Piece, pieces, type Row, records, table } from './table.ts';

/** `unchanged`: the image of an equal recipe was there, and nothing was built. */
export const BUILD_OUTCOMES = ['built', 'unchanged', 'failed'] as const;
export type BuildOutcome = (typeof BUILD_OUTCOMES)[number];

/** Characters of the output of one build that are kept. */
export const MOST_LOG = 2_000_000;

/** What a command tells of a build that is over. */
export interface NewImageBuild {
  /** By the name that its users write: `aws-ami`. */
  readonly builder: string;
  /** Where its images are, as the builder names the place. */
  readonly cloud: string;
  /** The machine on which the command ran. */
  readonly host: string;
  readonly version: string;
  /** Hash of the recipe; absent where it failed before there was one. */
  readonly recipe?: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: BuildOutcome;
  /** What it made or found; a build whose image could not be pushed has both this and an error. */
  readonly image?: Pick<BuiltImage, 'name' | 'reference' | 'ids' | 'builtAt'> | undefined;
  readonly error?: string | undefined;
  /** Its output, lines of text. */
  readonly log: string;
}

/** One build that is over. */
export interface ImageBuild extends Omit<NewImageBuild, 'image' | 'log'>, Row {
  /** What the image is referred to by, where there is one. */
  readonly image?: string | undefined;
  readonly by: string;
}

/** An image as it was when a command built or found it last. */
export interface ImageRecord extends BuiltImage, Row {
  readonly builder: string;
  readonly cloud: string;
  readonly host: string;
  /** Id of the build that made it, or that found it first. */
  readonly build: string;
  readonly by: string;
}

/** A piece of the output of a build. */
export interface ImageLogPiece extends Piece {
  readonly build: string;
}

export interface Images {
  /** Keeps what a build came to, and the record of its image in place of that which it replaces. */
  record(build: NewImageBuild, actor: Actor): Promise<ImageBuild>;
  /** Drops the record alone: the image itself is where it was built. Absent is a success. */
  forget(id: string, actor: Actor): Promise<void>;
  /** The output of a build; empty where it is no longer kept. */
  logOf(build: string): Promise<string>;
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly images?: Images;
  }
}

export const imageTables = {
  images: table<ImageRecord>()({ writer: 'images', indexes: { reference: (i) => i.reference } }),
} as const;

export const imageHistories = {
  imageBuilds: records<ImageBuild>()({
    finds: { image: (b) => b.image, builder: (b) => b.builder },
    at: (b) => b.endedAt,
    kept: { setting: 'image_builds', default: '90d', about: 'Retention time of the records of image builds.' },
  }),
  imageLogs: pieces<ImageLogPiece>()({
    of: 'build',
    numbers: [],
    texts: [],
    kept: { setting: 'image_logs', default: '30d', about: 'Retention time of the output of image builds.' },
  }),
} as const;
