import { Fault } from '#core/fault.ts';

// As https://semver.org has it, without what follows a `+`: no tag of an image may hold that.
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z]+([.-][0-9a-z]+)*)?$/;
const LONGEST = 64;

/** The version of an image: part of its name on every platform. */
export function mustBeVersion(text: string): string {
  if (VERSION.test(text) && text.length <= LONGEST) return text;
  throw new Fault('invalid', `${text} is no version.`, {
    at: '--version',
    remedy: 'Write it like 1.2.0 or 1.2.0-rc.1, in small letters.',
  });
}

const REPOSITORY = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$/;

/** Where an image is pushed to: `HOST/NAME`, without a tag, since that is the version of the image. */
export function mustBeRepository(text: string): string {
  if (REPOSITORY.test(text)) return text;
  throw new Fault('invalid', `${text} is no name of a registry: HOST/NAME, in small letters and without a tag.`, {
    at: '--push',
    remedy: 'Write it like registry.example.com/team/muster-agent.',
  });
}
