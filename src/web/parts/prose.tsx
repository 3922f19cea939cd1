const QUOTED = /`([^`]+)`/;

/** A sentence of the API as text; what stands between backticks, such as a command, looks like code. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split(QUOTED).map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}
