// Versions as the Go library semver reads them: minor and patch may be left out, leading zeros are taken.
import { Fault } from '#core/fault.ts';
import { fitsUint64 } from '../value/numbers.ts';

export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: string;
  readonly metadata: string;
  readonly original: string;
}

const VERSION =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

function segment(digits: string | undefined): bigint {
  const value = BigInt(digits ?? 0);
  if (fitsUint64(value)) return value;
  throw new Fault(
    'invalid',
    `error parsing version segment: strconv.ParseUint: parsing "${digits}": value out of range`,
  );
}

export function parseVersion(text: string): Version {
  const match = VERSION.exec(text);
  if (!match) throw new Fault('invalid', 'Invalid Semantic Version');
  const [, major, minor, patch, prerelease = '', metadata = ''] = match;
  if (prerelease.split('.').some((part) => /^0[0-9]+$/.test(part))) {
    throw new Fault('invalid', 'Version segment starts with 0');
  }
  return { major: segment(major), minor: segment(minor), patch: segment(patch), prerelease, metadata, original: text };
}

export function versionText({ major, minor, patch, prerelease, metadata }: Version): string {
  const pre = prerelease === '' ? '' : `-${prerelease}`;
  return `${major}.${minor}.${patch}${pre}${metadata === '' ? '' : `+${metadata}`}`;
}

function compareParts(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  const isNumeric = (part: string): boolean => /^[0-9]+$/.test(part);
  if (isNumeric(a) && isNumeric(b)) return BigInt(a) > BigInt(b) ? 1 : -1;
  if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? -1 : 1;
  return a > b ? 1 : -1;
}

export function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  // A release comes after everything that went before it.
  if (a === '' || b === '') return a === '' ? 1 : -1;
  const [partsA, partsB] = [a.split('.'), b.split('.')];
  for (let n = 0; n < Math.max(partsA.length, partsB.length); n++) {
    const order = compareParts(partsA[n], partsB[n]);
    if (order !== 0) return order;
  }
  return 0;
}

/** The order of precedence; metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  for (const key of ['major', 'minor', 'patch'] as const) {
    if (a[key] !== b[key]) return a[key] > b[key] ? 1 : -1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}
