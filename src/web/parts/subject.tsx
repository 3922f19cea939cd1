/** Where the pages of a kind of subject are; others have none. */
const PAGES: Readonly<Record<string, string>> = {
  pool: '/pools',
  worker: '/workers',
  session: '/sessions',
  source: '/sources',
  computer: '/computers',
  runtime: '/runtimes',
};

/** The page about a subject such as `pool/gpu`. */
export function subjectHref(subject: string): string | undefined {
  const slash = subject.indexOf('/');
  const page = PAGES[subject.slice(0, slash)];
  return slash < 0 || page === undefined ? undefined : `${page}/${encodeURIComponent(subject.slice(slash + 1))}`;
}

/** What something is about, as a link where it has a page. */
export function Subject({ of }: { readonly of: string }) {
  const href = subjectHref(of);
  return href === undefined ? <span title={of}>{of}</span> : <a href={href}>{of}</a>;
}
