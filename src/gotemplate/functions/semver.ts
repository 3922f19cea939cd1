import { type GoObject, Int } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { nilPointer } from './lists.ts';
import { compareVersions, parseVersion, type Version, versionText } from './version.ts';
import { satisfies } from './version-constraint.ts';

const number = (value: bigint) => ({ takes: [], give: () => new Int('uint64', value) }) as const;
const text = (value: string) => ({ takes: [], give: () => value }) as const;

function semverObject(version: Version): GoObject {
  return {
    type: '*semver.Version',
    kind: 'ptr',
    text: versionText(version),
    content: version,
    fields: {
      Major: number(version.major),
      Minor: number(version.minor),
      Patch: number(version.patch),
      Prerelease: text(version.prerelease),
      Metadata: text(version.metadata),
      Original: text(version.original),
      String: text(versionText(version)),
      Compare: {
        takes: ['version'],
        give: (other: GoObject | undefined) => {
          if (!other) throw nilPointer();
          return compareVersions(version, other.content as Version);
        },
      },
    },
  };
}

/** Sprig's functions for versions; of the methods that need another version, `Compare` is there. */
export const semverFunctions: Functions = {
  semver: fn(['string'], (version) => semverObject(parseVersion(version))),
  semverCompare: fn(['string', 'string'], (constraint, version, { budget }) => {
    budget.step(constraint.length);
    const check = satisfies(constraint);
    return check(parseVersion(version));
  }),
};
