import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { HttpProblem } from '../../api/wire/problem.ts';
import { Dialog } from '../frame/dialog.tsx';
import type { Answer } from '../live/request.ts';
import { type Role, useMay } from '../live/session.ts';
import { Trouble } from './standing.tsx';

interface ActionProps {
  readonly label: string;
  readonly needs?: Role;
  /** What it hits, asked once: a question, and what will happen. */
  readonly confirm?: {
    readonly question: string;
    readonly detail?: ComponentChildren;
    /** What the button there says, where the label alone could mean the opposite. */
    readonly act?: string;
  };
  readonly isDestructive?: boolean;
  readonly run: () => Promise<Answer<unknown>>;
  readonly done?: () => void;
}

type Step = 'rest' | 'asking' | 'running';

/** A button that does something on the server. Who may not do it does not see it. */
export function Action({ label, needs = 'operator', confirm, isDestructive, run, done }: ActionProps) {
  const isAllowed = useMay(needs);
  const [step, setStep] = useState<Step>('rest');
  const [problem, setProblem] = useState<HttpProblem>();
  if (!isAllowed) return null;
  async function go(): Promise<void> {
    setStep('running');
    setProblem(undefined);
    const answer = await run();
    setStep('rest');
    setProblem(answer.problem);
    if (!answer.problem) done?.();
  }
  const close = (): void => {
    setStep('rest');
    setProblem(undefined);
  };
  return (
    <>
      <button
        type="button"
        class={isDestructive ? 'destructive' : ''}
        disabled={step === 'running'}
        onClick={() => (confirm ? setStep('asking') : void go())}
      >
        {label}
      </button>
      {(step === 'asking' || problem) && (
        <Dialog label={confirm?.question ?? label} onClose={close}>
          <h2>{confirm?.question ?? label}</h2>
          {confirm?.detail && <p>{confirm.detail}</p>}
          {problem && <Trouble problem={problem} />}
          <div class="buttons">
            {step === 'asking' && (
              <button type="button" class={isDestructive ? 'destructive' : 'primary'} onClick={() => void go()}>
                {confirm?.act ?? label}
              </button>
            )}
            <button type="button" onClick={close}>
              {problem ? 'Close' : 'Leave it'}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
