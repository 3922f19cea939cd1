// Constraints on versions as the Go library semver has them.
import { Fault } from '#core/fault.ts';
import { comparePrereleases, compareVersions, parseVersion, type Version } from './version.ts';

interface Constraint {
  readonly operator: string;
  readonly version: Version;
  /** Which parts were left out or are wildcards. */
  readonly isAny: boolean;
  readonly isAnyMinor: boolean;
  readonly isAnyPatch: boolean;
}

const OPERATOR = /=>|=<|!=|>=|<=|~>|=|>|<|~|\^|/y;
// The bar within brackets is as in Go: a slip there that is part of what it takes.
const VERSION =
  /v?([0-9|xX*]+)(\.[0-9|xX*]+)?(\.[0-9|xX*]+)?(-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?/y;
const RANGE = new RegExp(`\\s*(${VERSION.source})\\s+-\\s+(${VERSION.source})\\s*`, 'g');
const SPACES = /\s*/y;
const MOST_LENGTH = 4_096;

const improper = (text: string): Fault => new Fault('invalid', `improper constraint: ${text}`);

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const isWild = (part: string | undefined): boolean => part === undefined || /^\.?[xX*]$/.test(part);

function constraintOf(
  operator: string,
  [, major, minor, patch, prerelease = '', metadata = '']: RegExpExecArray,
): Constraint {
  const flags = { operator, isAny: false, isAnyMinor: false, isAnyPatch: false };
  const read = (text: string): Version => {
    try {
      return parseVersion(text);
    } catch {
      throw new Fault('invalid', 'constraint Parser Error');
    }
  };
  if (isWild(major)) return { ...flags, version: read(`0.0.0${prerelease}`), isAny: true };
  if (isWild(minor)) return { ...flags, version: read(`${major}.0.0${prerelease}`), isAny: true, isAnyMinor: true };
  if (isWild(patch))
    return { ...flags, version: read(`${major}${minor}.0${prerelease}`), isAny: true, isAnyPatch: true };
  return { ...flags, version: read(`${major}${minor}${patch}${prerelease}${metadata}`) };
}

const skipSpaces = (text: string, at: number): number => at + (matchAt(SPACES, text, at)?.[0].length ?? 0);

/** The constraints of one alternative; all must hold. Blanks or a comma stand between them. */
function readGroup(text: string): Constraint[] {
  const found: Constraint[] = [];
  for (let at = skipSpaces(text, 0); ; ) {
    const operator = matchAt(OPERATOR, text, at)?.[0] ?? '';
    const version = matchAt(VERSION, text, skipSpaces(text, at + operator.length));
    if (!version) throw improper(text);
    found.push(constraintOf(operator, version));
    const end = version.index + version[0].length;
    const next = skipSpaces(text, end);
    if (next >= text.length) return found;
    if (text[next] === ',') at = skipSpaces(text, next + 1);
    else if (next > end) at = next;
    else throw improper(text);
  }
}

const isNewer = (version: Version, { version: than }: Constraint): boolean => compareVersions(version, than) > 0;
const isOlder = (version: Version, { version: than }: Constraint): boolean => compareVersions(version, than) < 0;

function differs(version: Version, constraint: Constraint): boolean {
  const { version: other, isAny, isAnyMinor, isAnyPatch } = constraint;
  if (!isAny) return compareVersions(version, other) !== 0;
  if (other.major !== version.major) return true;
  if (isAnyMinor) return false;
  if (other.minor !== version.minor) return true;
  if (isAnyPatch) return comparePrereleases(version.prerelease, other.prerelease) !== 0;
  return compareVersions(version, other) !== 0;
}

function isAbove(version: Version, constraint: Constraint): boolean {
  const { version: other, isAny, isAnyMinor, isAnyPatch } = constraint;
  if (!isAny) return isNewer(version, constraint);
  if (version.major !== other.major) return version.major > other.major;
  if (isAnyMinor) return false;
  return isAnyPatch ? version.minor > other.minor : isNewer(version, constraint);
}

function isAtMost(version: Version, constraint: Constraint): boolean {
  const { version: other, isAny, isAnyMinor } = constraint;
  if (!isAny) return !isNewer(version, constraint);
  if (version.major !== other.major) return version.major < other.major;
  return isAnyMinor || version.minor <= other.minor;
}

function isNear(version: Version, constraint: Constraint): boolean {
  const { version: other, isAnyMinor, isAnyPatch } = constraint;
  if (isOlder(version, constraint)) return false;
  const isZero = other.major === 0n && other.minor === 0n && other.patch === 0n;
  if (isZero && !isAnyMinor && !isAnyPatch) return true;
  return version.major === other.major && (isAnyMinor || version.minor === other.minor);
}

function isCompatible(version: Version, constraint: Constraint): boolean {
  const { version: other, isAnyMinor, isAnyPatch } = constraint;
  if (isOlder(version, constraint)) return false;
  if (other.major > 0n || isAnyMinor) return version.major === other.major;
  if (version.major > 0n) return false;
  if (other.minor > 0n || isAnyPatch) return version.minor === other.minor;
  return version.minor === 0n && version.patch === other.patch;
}

const equals = (version: Version, constraint: Constraint): boolean =>
  constraint.isAny ? isNear(version, constraint) : compareVersions(version, constraint.version) === 0;

const CHECKS: Readonly<Record<string, (version: Version, constraint: Constraint) => boolean>> = {
  '': equals,
  '=': equals,
  '!=': differs,
  '>': isAbove,
  '<': isOlder,
  '>=': (version, constraint) => !isOlder(version, constraint),
  '=>': (version, constraint) => !isOlder(version, constraint),
  '<=': isAtMost,
  '=<': isAtMost,
  '~': isNear,
  '~>': isNear,
  '^': isCompatible,
};

function isRefusedPrerelease(version: Version, { operator, isAny, version: { prerelease } }: Constraint): boolean {
  if (operator === '!=' && !isAny) return false;
  return version.prerelease !== '' && prerelease === '';
}

/** Whether a version keeps the constraint; a version before a release only where the constraint names one itself. */
export function satisfies(constraint: string): (version: Version) => boolean {
  if (constraint.length > MOST_LENGTH) throw improper(constraint.slice(0, 40));
  const rewritten = constraint.replace(RANGE, (...match: (string | undefined)[]) => `>= ${match[1]}, <= ${match[7]} `);
  const groups = rewritten.split('||').map(readGroup);
  return (version) =>
    groups.some((group) =>
      group.every((one) => !isRefusedPrerelease(version, one) && CHECKS[one.operator]?.(version, one)),
    );
}
