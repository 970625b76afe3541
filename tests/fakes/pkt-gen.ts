// Logs in pkt-gen's format with a test's numbers, and a program that prints them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type MadeLog = {
  /** Rates, one per second. */
  pps: readonly number[];
  side?: 'receiver' | 'sender';
  /** First line; default: bench-lab's for that side. */
  command?: string;
};

/** Nine header lines, one line per rate, and one final line: 10 more lines than rates. */
export function madeLog({ pps, side = 'receiver', command }: MadeLog): string {
  const sends = side === 'sender' ? 'tx -i vcxl0 -l 60 -4' : 'rx -i vcxl1';
  const head = Array.from({ length: 8 }, (_, line) =>
    said(line / 1000, line < 7 ? `main [${line}] getting ready` : 'start_threads [2697] Ready...'),
  );
  const rates = pps.map((rate, index) => said(index + 1, rateWords(Math.round(rate))));
  const lines = [command ?? `CMD: pkt-gen -N -f ${sends}`, ...head, ...rates, 'Terminated'];
  return lines.map((line) => `${line}\n`).join('');
}

const rateWords = (pps: number): string =>
  `main_thread [2277] ${pps} pps (${pps} pkts ${pps * 480} bps in 1000000 usec) 4.00 avg_batch 9 min_space`;

const said = (seconds: number, words: string): string =>
  `${((900 + seconds) % 1000).toFixed(6).padStart(10, '0')} ${words}`;

/** A ramp of one second, `seconds` that scatter slightly around `pps`, and a tail of half a second. */
export function trial(pps: number, seconds: number): number[] {
  const body = Array.from({ length: seconds }, (_, second) => pps * (1 + ((second % 5) - 2) / 2000));
  return [pps / 3, ...body, pps / 2];
}

export type FakePktGen = {
  /** Folder for the PATH. */
  bin: string;
  /** Events in order: `start PORT`, `counted PORT` for each rate, `interrupted PORT`. */
  journal(): string[];
};

/**
 * Installs a pkt-gen that prints its port's log line by line, 5 ms apart, until it is interrupted or the log ends. After
 * each rate a port waits for its configured time.
 */
export function layPktGen(
  folder: string,
  logs: Readonly<Record<string, string>>,
  secondsAfterRate: Readonly<Record<string, number>> = {},
): FakePktGen {
  for (const [port, log] of Object.entries(logs)) writeFileSync(join(folder, `${port}.log`), log);
  const [bin, journal] = [join(folder, 'bin'), join(folder, 'journal')];
  mkdirSync(bin);
  writeFileSync(join(bin, 'pkt-gen'), program(folder, journal, secondsAfterRate), {
    mode: 0o755,
  });
  const written = () => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
  return { bin, journal: () => written().split('\n').slice(0, -1) };
}

const program = (
  folder: string,
  journal: string,
  secondsAfterRate: Readonly<Record<string, number>>,
): string => `#!/bin/sh
while [ "$1" != -i ]; do shift; done
port=$2
case $port in
${Object.entries(secondsAfterRate)
  .map(([port, seconds]) => `  ${port}) pause=${seconds} ;;\n`)
  .join('')}  *) pause=0 ;;
esac
over() {
  trap '' INT
  echo "interrupted $port" >>'${journal}'
  echo 'Received 80 packets, 60 bytes each, in 4.00 seconds.'
  exit 0
}
trap over INT
echo "start $port" >>'${journal}'
while read -r line; do
  case $line in
    *' pps '*) echo "counted $port" >>'${journal}'; echo "$line" >&2; sleep "$pause" ;;
    *) echo "$line" >&2 ;;
  esac
  sleep 0.005
done <'${folder}'/"$port.log"
`;
