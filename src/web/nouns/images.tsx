import type { Image, ImageBuild, ImageBuildWithLog } from '../../api/wire/image.ts';
import { useList } from '../live/list.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { State, type Tone } from '../parts/state.tsx';
import { Ago, Lasts } from '../parts/time.tsx';

const idOf = ({ id }: { readonly id: string }): string => id;
const buildHref = (id: string): string => `/images/builds/${encodeURIComponent(id)}`;

const imageColumns = (done: () => void): readonly Column<Image>[] => [
  { title: 'Image', show: ({ reference }) => <span class="mono">{reference}</span> },
  { title: 'Builder', width: 9, rank: 2, show: ({ builder }) => builder },
  { title: 'Place', width: 10, rank: 3, show: ({ cloud }) => cloud },
  {
    title: 'Ids',
    rank: 3,
    show: ({ ids }) => {
      const text = Object.entries(ids)
        .map(([region, id]) => (region === '' ? id : `${region}: ${id}`))
        .join(', ');
      return (
        <span class="mono" title={text}>
          {text}
        </span>
      );
    },
  },
  { title: 'By', width: 10, rank: 3, show: ({ by }) => by },
  { title: 'Built', width: 7, isNumber: true, show: ({ built_at: at }) => <Ago at={at} /> },
  { title: '', width: 6, isNumber: true, rank: 2, show: (image) => <Forget image={image} done={done} /> },
];

function Forget({ image: { id, reference }, done }: { readonly image: Image; readonly done: () => void }) {
  const live = useLive();
  return (
    <Action
      label="Forget"
      isDestructive
      confirm={{ question: `Forget image ${reference}?`, detail: 'Only the record goes: the image stays where it is.' }}
      run={() => live.ask(`/images/${encodeURIComponent(id)}`, { method: 'DELETE' })}
      done={done}
    />
  );
}

const OUTCOMES: Readonly<Record<ImageBuild['outcome'], Tone>> = {
  built: 'ok',
  unchanged: 'ok',
  failed: 'problem',
};

const Outcome = ({ build: { outcome, error } }: { readonly build: ImageBuild }) => (
  <State word={outcome} tone={OUTCOMES[outcome]} title={error} />
);

const BUILD_COLUMNS: readonly Column<ImageBuild>[] = [
  { title: 'Build', show: ({ image, id }) => <span class="mono">{image ?? id}</span> },
  { title: 'State', width: 8, show: (build) => <Outcome build={build} /> },
  { title: 'Builder', width: 9, rank: 2, show: ({ builder }) => builder },
  { title: 'Host', width: 10, rank: 3, show: ({ host }) => host },
  {
    title: 'Took',
    width: 7,
    rank: 2,
    isNumber: true,
    show: ({ started_at: from, ended_at: to }) => <Lasts from={from} to={to} />,
  },
  { title: 'Ended', width: 7, isNumber: true, show: ({ ended_at: at }) => <Ago at={at} /> },
  { title: 'Error', rank: 3, show: ({ error }) => error && <span title={error}>{error}</span> },
];

const FIRST = 'muster image build docker';

function ImagesPage() {
  const images = useList<Image>({ path: '/images', table: 'images', idOf });
  const builds = useList<ImageBuild>({ path: '/image-builds', idOf });
  return (
    <>
      <h1>Images</h1>
      <Rows
        label="Images"
        list={images}
        columns={imageColumns(() => void images.refresh())}
        idOf={idOf}
        href={({ build }) => buildHref(build)}
        empty={<Empty command={FIRST}>No image. An image has the agent in it, so that machines start faster.</Empty>}
      />
      <h2>Builds</h2>
      <Rows
        label="Builds"
        list={builds}
        columns={BUILD_COLUMNS}
        idOf={idOf}
        href={({ id }) => buildHref(id)}
        empty={<Empty>No build. A build runs on the machine of who asks for it; the server keeps its output.</Empty>}
      />
    </>
  );
}

function BuildPage({ params }: PageProps) {
  const asked = useAsked<ImageBuildWithLog>(`/image-builds/${encodeURIComponent(params.id ?? '')}`);
  return (
    <Shown asked={asked}>
      {(build) => (
        <>
          <div class="title">
            <h1 class="mono">{build.image ?? build.id}</h1>
            <Outcome build={build} />
          </div>
          {build.error !== undefined && (
            <div class="standing trouble">
              <pre tabIndex={0}>{build.error}</pre>
            </div>
          )}
          <Facts
            of={[
              ['Builder', build.builder],
              ['Place', build.cloud],
              ['Ran on', build.host],
              ['Version', build.version],
              ['Recipe', build.recipe && <span class="mono">{build.recipe}</span>],
              ['Ended', <Ago at={build.ended_at} />],
              ['Took', <Lasts from={build.started_at} to={build.ended_at} />],
              ['By', build.by],
            ]}
          />
          <h2>Output</h2>
          {build.log === '' ? (
            <p class="quiet">No longer kept.</p>
          ) : (
            <pre tabIndex={0}>
              <code>{build.log}</code>
            </pre>
          )}
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/images',
  title: 'Images',
  order: 80,
  key: 'i',
  needs: 'images',
  pages: [
    { path: '/images', page: ImagesPage },
    { path: '/images/builds/:id', page: BuildPage },
  ],
};
