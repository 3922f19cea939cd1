// Shell lines that bring the agent onto a machine and keep it running; they need `has`, `fail` and the folder "$work".
import { quoted } from '#core/shell-text.ts';

/** Writes a text to a file unchanged: the shell expands nothing in a quoted here-document. */
export function heredoc(file: string, text: string): string {
  const lines = text.split('\n');
  let mark = 'MUSTER_END';
  while (lines.includes(mark)) mark += '_';
  return `cat > ${file} <<'${mark}'\n${text}${text.endsWith('\n') ? '' : '\n'}${mark}`;
}

export interface InstallLines {
  readonly archives: readonly {
    /** As `uname` prints it with the flags below. */
    readonly machine: string;
    readonly url: string;
    readonly sha256: string;
  }[];
  /** The flags of `uname` that tell the archives apart. */
  readonly unameFlags: '-m' | '-sm';
  /** Trusted for the download in place of the system's authorities, as PEM. */
  readonly ca?: string | undefined;
  /** How often to try the download, five seconds apart. */
  readonly tries: number;
  /** A folder, as a word of the shell. */
  readonly into: string;
}

// A case pattern with a blank needs quotes.
const pattern = (machine: string): string => (/^[\w-]+$/.test(machine) ? machine : quoted(machine));

// macOS has shasum in place of sha256sum.
const CHECKSUM = {
  '-m': 'sum=$(sha256sum "$work/agent.tar.gz")',
  '-sm':
    'if has sha256sum; then sum=$(sha256sum "$work/agent.tar.gz"); else sum=$(shasum -a 256 "$work/agent.tar.gz"); fi',
};

/** Chooses the archive for this machine, downloads it, verifies its checksum and unpacks it. */
export function installLines({ archives, unameFlags, ca, tries, into }: InstallLines): string {
  const cases = archives.map(
    ({ machine, url, sha256 }) => `${pattern(machine)}) url=${quoted(url)} sha256=${quoted(sha256)} ;;`,
  );
  const machines = archives.map(({ machine }) => machine).join(', ');
  const [curlCa, wgetCa] =
    ca === undefined ? ['', ''] : ['--cacert "$work/ca.pem" ', '--ca-certificate="$work/ca.pem" '];
  return `case $(uname ${unameFlags}) in
${cases.join('\n')}
*) fail "the server offers the agent for ${machines}, and this machine is $(uname ${unameFlags})" ;;
esac
${ca === undefined ? '' : `${heredoc('"$work/ca.pem"', ca)}\n`}download() {
  if has curl; then curl -fsS ${curlCa}-o "$work/agent.tar.gz" "$url"
  else wget -q ${wgetCa}-O "$work/agent.tar.gz" "$url"; fi
}
tries=0
until download; do
  tries=$((tries + 1))
  [ "$tries" -lt ${tries} ] || fail "the agent could not be fetched"
  sleep 5
done
${CHECKSUM[unameFlags]}
[ "\${sum%% *}" = "$sha256" ] || fail "the agent's archive is damaged"
mkdir -p ${into}
tar -xzf "$work/agent.tar.gz" -C ${into}`;
}

export interface UnitLines {
  /** All three may be variables of the shell. */
  readonly file: string;
  readonly program: string;
  readonly config: string;
  /** What follows when the time of the agent is over; absent: it is started again, as after any other exit. */
  readonly atEnd?: keyof typeof AT_END | undefined;
}

// Of the agent when its time is over; no other failure of it has this exit code.
const END_CODE = 80;

const AT_END = {
  // systemd.exec(5): runs after every exit, with that variable (since 232, older than any system that the agent runs on). A failed poweroff is repeated by the restart of the agent.
  'power off': `ExecStopPost=/bin/sh -c '[ "\\$\\$EXIT_STATUS" != ${END_CODE} ] || systemctl poweroff'\n`,
  'stay stopped': `RestartPreventExitStatus=${END_CODE}\nSuccessExitStatus=${END_CODE}\n`,
};

/** Writes the systemd unit and starts the agent. */
export function unitLines({ atEnd, ...at }: UnitLines): string {
  return `cat > ${at.file} <<UNIT
[Unit]
Description=Muster agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${at.program} --config ${at.config}${atEnd ? ` --end-code ${END_CODE}` : ''}
Restart=always
RestartSec=5
${atEnd ? AT_END[atEnd] : ''}KillMode=process
LimitNOFILE=524288

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now muster-agent`;
}
