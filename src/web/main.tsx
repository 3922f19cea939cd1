import '@xterm/xterm/css/xterm.css';
import 'uplot/dist/uPlot.min.css';
import './tokens.css';
import './frame/frame.css';
import './parts/state.css';
import './parts/rows.css';
import './nouns/overview.css';
import './parts/facts.css';
import './parts/chart.css';
import './parts/plain-table.css';
import './parts/cells.css';
import './parts/controls.css';
import './session/session.css';
import { render } from 'preact';
import { Dashboard } from './frame/dashboard.tsx';
import { keepPreferences } from './frame/preferences.ts';
import { browserClock } from './live/clock.ts';
import { openLive } from './live/live.ts';
import { tick } from './parts/time.tsx';

const isVisible = (): boolean => document.visibilityState === 'visible';

const live = openLive({
  fetch: (url, init) => fetch(url, init),
  clock: browserClock,
  isVisible,
  onVisible(changed) {
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  },
});
keepPreferences();
tick(browserClock, isVisible);
live.start();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(<Dashboard live={live} />, root);
}
