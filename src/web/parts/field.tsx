import { useId } from 'preact/hooks';

interface TextFieldProps {
  readonly title: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly note?: string;
  readonly fault?: string | undefined;
  readonly placeholder?: string;
  /** More than one line, in the letters of a terminal. */
  readonly rows?: number;
  /** What is suggested; anything may be written. */
  readonly choices?: readonly string[];
  /** Ctrl Enter in a field of several lines. */
  readonly enter?: () => void;
}

/** One text of a form, with what is wrong with it below. */
export function TextField({ title, value, set, note, fault, placeholder, rows, choices, enter }: TextFieldProps) {
  const id = useId();
  const shared = {
    id,
    value,
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-about`,
    ...(placeholder !== undefined && { placeholder }),
  };
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {rows === undefined ? (
        <input
          {...shared}
          {...(choices && { list: `${id}-choices` })}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <textarea
          {...shared}
          class="mono"
          rows={rows}
          spellcheck={false}
          onInput={(event) => set(event.currentTarget.value)}
          onKeyDown={({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey) && enter?.()}
        />
      )}
      {choices && (
        <datalist id={`${id}-choices`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      <div id={`${id}-about`}>
        {fault !== undefined && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        {note && <p class="quiet small">{note}</p>}
      </div>
    </div>
  );
}
