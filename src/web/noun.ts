import type { ComponentType } from 'preact';

export interface WebPage {
  /** As `/pools/:name`; what stands behind a colon comes as a property of `params`. */
  readonly path: string;
  // Each page reads its own parameters by name.
  readonly page: ComponentType<PageProps>;
}

/** What the router hands to a page. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

/** A noun of the dashboard. `npm run gen` lists every file of `nouns/` that exports one as `noun`. */
export interface WebNoun {
  readonly path: string;
  readonly title: string;
  /** Its place in the menu. */
  readonly order: number;
  /** The letter that goes there after `g`. */
  readonly key?: string;
  /** In the menu only where the server has any: the part of the overview that says so. */
  readonly needs?: 'computers' | 'runtimes' | 'nodes' | 'images';
  /** Reached by links only. */
  readonly isHidden?: boolean;
  readonly pages: readonly WebPage[];
}
