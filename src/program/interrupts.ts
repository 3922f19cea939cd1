type Heard = (signal: NodeJS.Signals) => void;

/** Calls `heard` at each of these signals in place of ending the process; the returned function ends that. */
export function onSignals(signals: readonly NodeJS.Signals[], heard: Heard): () => void {
  for (const signal of signals) process.on(signal, heard);
  return () => {
    for (const signal of signals) process.off(signal, heard);
  };
}
