import { useEffect, useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useLive } from '../live/use.ts';

/** One filter of a list, named as the API names it. */
export type Filter =
  | {
      readonly title: string;
      readonly kind: 'text';
      /** Anything else may be written too. */
      readonly suggested?: readonly string[];
      readonly isHidden?: boolean;
    }
  | {
      readonly title: string;
      readonly kind: 'choice';
      readonly choices: readonly string[];
      readonly isHidden?: boolean;
    }
  | { readonly title: string; readonly kind: 'flag'; readonly isHidden?: boolean };

export interface UsedFilters {
  readonly known: Readonly<Record<string, Filter>>;
  readonly values: Readonly<Record<string, string>>;
  /** Those of the address that are none of this list, or have no such value: they have no effect. */
  readonly ignored: readonly string[];
  /** For the API: `?q=gpu`, or nothing. */
  readonly query: string;
  set(name: string, value: string): void;
}

const isValid = (filter: Filter | undefined, value: string): boolean =>
  filter !== undefined && (filter.kind !== 'choice' || filter.choices.includes(value)) && value !== '';

/** The filters of a list, which stand in the address: a link shows the same. */
export function useFilters(known: Readonly<Record<string, Filter>>): UsedFilters {
  const { query, path, route } = useLocation();
  const entries = Object.entries(query);
  const values = Object.fromEntries(entries.filter(([name, value]) => isValid(known[name], value)));
  const text = (of: Readonly<Record<string, string>>): string => {
    const written = String(new URLSearchParams(of));
    return written === '' ? '' : `?${written}`;
  };
  return {
    known,
    values,
    ignored: entries.filter(([name, value]) => !isValid(known[name], value)).map(([name, value]) => `${name}=${value}`),
    query: text(values),
    set(name, value) {
      const { [name]: _, ...others } = values;
      route(path + text(value === '' ? others : { ...others, [name]: value }), true);
    },
  };
}

const TYPED_AFTER_MS = 200;

interface TextFilterProps {
  readonly title: string;
  readonly suggested?: readonly string[] | undefined;
  readonly value: string;
  readonly set: (value: string) => void;
}

/** What is typed counts a moment later: each letter would list anew. */
function TextFilter({ title, suggested, value, set }: TextFilterProps) {
  const { clock } = useLive();
  const id = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => (typed === value ? undefined : clock.after(TYPED_AFTER_MS, () => set(typed))), [typed]);
  return (
    <label>
      <span>{title}</span>
      <input
        type="search"
        value={typed}
        {...(suggested && { list: `${id}-suggested` })}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {suggested && (
        <datalist id={`${id}-suggested`}>
          {suggested.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

function OneFilter({ name, filters }: { readonly name: string; readonly filters: UsedFilters }) {
  const filter = filters.known[name] as Filter;
  const value = filters.values[name] ?? '';
  const set = (to: string): void => filters.set(name, to);
  if (filter.kind === 'text')
    return <TextFilter title={filter.title} suggested={filter.suggested} value={value} set={set} />;
  if (filter.kind === 'flag')
    return (
      <label class="flag">
        <input
          type="checkbox"
          checked={value === 'true'}
          onChange={(event) => set(event.currentTarget.checked ? 'true' : '')}
        />
        <span>{filter.title}</span>
      </label>
    );
  return (
    <label>
      <span>{filter.title}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">any</option>
        {filter.choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The filters above a list. */
export function Filters({ filters }: { readonly filters: UsedFilters }) {
  const shown = Object.keys(filters.known).filter((name) => !filters.known[name]?.isHidden || filters.values[name]);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {shown.map((name) => (
        <OneFilter key={name} name={name} filters={filters} />
      ))}
      {filters.ignored.length > 0 && (
        <p class="quiet" role="status">
          Ignored, because this list has no such filter: {filters.ignored.join(', ')}
        </p>
      )}
    </form>
  );
}
