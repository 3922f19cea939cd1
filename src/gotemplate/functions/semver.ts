import { type GoObject, Int } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { parseVersion, type Version, versionText } from './version.ts';
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
    },
  };
}

/** Sprig's functions for versions; the methods of a version are there that need no other version. */
export const semverFunctions: Functions = {
  semver: fn(['string'], (version) => semverObject(parseVersion(version))),
  semverCompare: fn(['string', 'string'], (constraint, version, { budget }) => {
    budget.step(constraint.length);
    const check = satisfies(constraint);
    return check(parseVersion(version));
  }),
};
