// What a build says: handed on as it comes, and kept for its history.

export interface OutputLine {
  readonly text: string;
  /** A part of the build begins. */
  readonly isStep: boolean;
}

/** Where the output of a build goes as it comes. */
export interface OutputTo {
  step(title: string): void;
  line(text: string): void;
}

export interface OutputLog extends OutputTo {
  /** The last lines since the last step began. */
  lastOfStep(count: number): readonly string[];
  /** All of it; of very much the first and the last, with a line that says what is missing. */
  kept(): readonly string[];
}

const FIRST = 200;
const LAST = 1_800;
const LONGEST = 4_096;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

export function openOutputLog(to: OutputTo): OutputLog {
  const first: string[] = [];
  let last: string[] = [];
  let ofStep: string[] = [];
  let dropped = 0;

  function keep(text: string): void {
    if (first.length < FIRST) return void first.push(text);
    last.push(text);
    if (last.length <= 2 * LAST) return;
    dropped += last.length - LAST;
    last = last.slice(-LAST);
  }

  return {
    step(title) {
      ofStep = [];
      keep(`> ${cut(title)}`);
      to.step(cut(title));
    },
    line(text) {
      ofStep = [...ofStep.slice(-LAST), cut(text)];
      keep(cut(text));
      to.line(cut(text));
    },
    lastOfStep: (count) => ofStep.slice(-count),
    kept() {
      const missing = dropped + Math.max(0, last.length - LAST);
      const said = missing > 0 ? [`… ${missing} lines are missing here`] : [];
      return [...first, ...said, ...last.slice(-LAST)];
    },
  };
}
