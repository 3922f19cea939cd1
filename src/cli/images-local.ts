// What commands about images ask of this machine.
import type { Fault } from '#core/fault.ts';
import type { BuiltImage } from '#core/image-builder.ts';

/** Which builders, and with what settings. */
export interface ImageChoice {
  /** By the names that users write, or `all`. */
  readonly kinds: readonly string[];
  /** Settings of builders: `base`, or `docker.base` where several are named. */
  readonly set?: Readonly<Record<string, string>> | undefined;
  /** Packages with builders of one's own. */
  readonly plugins?: readonly string[] | undefined;
}

/** Where the output of builds goes as it comes. */
export interface ImageOutput {
  begin(builder: string): void;
  step(title: string): void;
  line(text: string): void;
}

export interface BuildImagesOptions extends ImageChoice {
  /** Absent: that of the package. */
  readonly version?: string | undefined;
  readonly push?: string | undefined;
  /** Executables of Node for images of other machines: `linux-arm64` → path. */
  readonly node?: Readonly<Record<string, string>> | undefined;
  readonly output: ImageOutput;
  /** Called as each of them ends; the next one waits for it. */
  ended?(end: NamedImageEnd): Promise<void>;
  readonly signal: AbortSignal;
}

/** How the build of one builder went. */
export interface NamedImageEnd {
  readonly builder: string;
  readonly cloud: string;
  readonly version: string;
  readonly recipe?: string | undefined;
  readonly image?: BuiltImage | undefined;
  /** False: an image of an equal recipe was there. */
  readonly isBuilt: boolean;
  readonly fault?: Fault | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly log: readonly string[];
}

export interface FoundImage extends BuiltImage {
  readonly builder: string;
  readonly cloud: string;
}

/** What one builder has, or why that is not known. */
export interface FoundImages {
  readonly builder: string;
  /** Absent where it could not be opened. */
  readonly cloud?: string | undefined;
  readonly images: readonly FoundImage[];
  readonly fault?: Fault | undefined;
}

export interface ImagesLocal {
  /** The name of this machine. */
  readonly host: string;
  kinds(plugins?: readonly string[]): Promise<readonly { readonly name: string; readonly summary: string }[]>;
  /** One after the other; throws before the first one starts where something is missing. */
  build(options: BuildImagesOptions): Promise<readonly NamedImageEnd[]>;
  list(choice: ImageChoice, signal: AbortSignal): Promise<readonly FoundImages[]>;
  drop(image: FoundImage, choice: Omit<ImageChoice, 'kinds'>, signal: AbortSignal): Promise<void>;
}
