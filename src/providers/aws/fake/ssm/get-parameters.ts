import { cursorOf, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { Parameter, Region } from '../region.ts';
import type { Ask } from '../world.ts';
import { type Answer, find, invalid, orderedNames, parameterAnswer, parseSelector, textOf } from './parameter.ts';

const MOST_NAMES = 10;

export function getParameter(ask: Ask): Answer {
  const name = textOf(ask.body, 'Name');
  if (name === undefined)
    throw invalid(
      "1 validation error detected: Value null at 'name' failed to satisfy constraint: Member must not be null",
    );
  const { parameter, version } = find(ask.region, name);
  const { selector } = parseSelector(name);
  return { Parameter: { ...parameterAnswer(ask, parameter, version), Selector: selector && `:${selector}` } };
}

export function getParameters(ask: Ask): Answer {
  const names = (ask.body.Names ?? []) as readonly string[];
  if (names.length === 0 || names.length > MOST_NAMES) {
    throw invalid(
      `1 validation error detected: Value '${JSON.stringify(names)}' at 'names' failed to satisfy constraint: Member must have length less than or equal to ${MOST_NAMES}`,
    );
  }
  const isThere = (name: string): boolean => ask.region.parameters.has(parseSelector(name).name);
  return {
    Parameters: names.filter(isThere).map((name) => {
      const { parameter, version } = find(ask.region, name);
      return parameterAnswer(ask, parameter, version);
    }),
    InvalidParameters: names.filter((name) => !isThere(name)),
  };
}

function readPath(ask: Ask): string {
  const path = textOf(ask.body, 'Path') ?? '';
  if (path.startsWith('/')) return path === '/' ? '/' : `${path.replace(/\/+$/, '')}/`;
  throw invalid(
    'The parameter path must begin with a forward slash "/". It can\'t be prefixed with "aws" or "ssm" (case-insensitive). It must use only letters, numbers, or the following symbols: . (period), - (hyphen), _ (underscore).',
  );
}

function readSize(ask: Ask, most: number): number {
  const size = ask.body.MaxResults;
  if (size === undefined || size === null) return Math.min(most, ask.world.behaviour.largestPage);
  if (typeof size !== 'number' || size < 1 || size > most) {
    const side = Number(size) > most ? `less than or equal to ${most}` : 'greater than or equal to 1';
    throw invalid(
      `1 validation error detected: Value '${size}' at 'maxResults' failed to satisfy constraint: Member must have value ${side}`,
    );
  }
  return Math.min(size, ask.world.behaviour.largestPage);
}

/** Those below a path, in order, from a name on; looks at no more than it must. */
function below(region: Region, path: string, isWanted: (name: string) => boolean) {
  const names = orderedNames(region);
  return {
    keyOf: (parameter: Parameter): string => parameter.name,
    following(after: string, count: number): Parameter[] {
      const found: Parameter[] = [];
      const start = after === '' ? path : after;
      let [low, high] = [0, names.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((names[middle] as string) <= start) low = middle + 1;
        else high = middle;
      }
      for (let at = low; at < names.length && found.length < count; at += 1) {
        const name = names[at] as string;
        if (!name.startsWith(path)) break;
        if (isWanted(name)) found.push(region.parameters.get(name) as Parameter);
      }
      return found;
    },
  };
}

/** One page in the order of names; the token is good for the same question alone. */
export function ssmPage(
  ask: Ask,
  source: { following(after: string, count: number): readonly Parameter[]; keyOf(parameter: Parameter): string },
  most: number,
) {
  const { world, nowMs, body } = ask;
  const { NextToken: _token, MaxResults: _size, ...question } = body;
  const { emptyPages, tokenLifeMs } = world.behaviour;
  const token = textOf(body, 'NextToken');
  const asked = { of: JSON.stringify(question), token, size: readSize(ask, most), nowMs, emptyPages, tokenLifeMs };
  const cursor = cursorOf(asked);
  if (!cursor) throw refusal('InvalidNextToken', 'The specified token is not valid.');
  return pageOf(asked, cursor, source);
}

export function getParametersByPath(ask: Ask): Answer {
  const path = readPath(ask);
  const isWanted = (name: string): boolean => ask.body.Recursive === true || !name.slice(path.length).includes('/');
  const { items, token } = ssmPage(ask, below(ask.region, path, isWanted), MOST_NAMES);
  return { Parameters: items.map((parameter) => parameterAnswer(ask, parameter)), NextToken: token };
}
